"""What looks like a secret and is none: hashes, ids, versions, names in code, fields of formats."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha512

import pytest

from mdmem.privacy import clean, secrets
from mdmem.privacy.secrets import names, pairs, tables

WRAPPED = "CAAMABAAFAAYABwAIAAsADAAOAA8AEAARABIAEwAU"


@pytest.mark.parametrize(
    "line",
    [
        '"CodeSha256": "GGmv8ocUw4cly0T8HL0Vx/f5V4RmSCGNjDIslY4VskM="',
        '"DetectorId": "b6b992d6d2f48e64bc59180bfexample"',
        "aws dms describe --flow-arn arn:aws:media:us-east-1:123456789012:flow:1-23aBC45dEF67hiJ8-12AbC34DE5fG",
        '"SecretArn": "arn:aws:secretsmanager:us-west-2:123456789123:secret:dbLogin-1a2b3f"',
        "<DigestValue>HjY8ilZAIEM2tBbPn5mYO1ieIX4=</DigestValue>",
        "-----BEGIN PUBLIC KEY-----\\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQ\\nwd3H7jPGwj8bLUmore7bX\\n",
        'pack("x4Ix4x4x4x4x4x4x4x4Ix4x4x4I", $values)',
        "DB_PASSWORD=$SECRET\nPORT=3000\nA_TOKEN=${TOKEN}\nMODE=x1y2z3\n",
        "Tokens (JWT): RS256",
        "+/nix/store/0q4w7zr5m1ix2a9kd8vhp3s6bfjgnyc1-glibc-2.38\n",
        "the specifiers aAbBcdHIjmMpSUwWxXyYZ of strftime",
        "P:musl\nC:Q17mim+wL35iMEtCiwQEovweL8NT0=\nR:libc.so\na:0:0:755\nZ:Q1BD6zJKZTRWyqGnPi4tSfd3krsMU=\n",
        "+Z:Q1BD6zJKZTRWyqGnPi4tSfd3krsMU=",
        "https://lists.example.org/archives/list/dev@lists.example.org/message/EXDDAOWSAIEFQNBHWYE6PPYFV4QXGMCD/",
        "* reset password (8a1ec4d6)\n* add a password (8a1ec4d), closes #12",
        "root:$PASS@db:5432/app",
        "user:password@db:5432/app",
        "postgres://{user}:{word}@{host}/app",
        'password = "%(word)s"',
        "PASSWORD=%MYENV%",
        "use demo123 as the login name, benutze demo123 als Benutzername für den Login",
        "the password reset fails on a1b2c3d, fix the password form in 3a7bd3e2360a",
        "the password test in 9fceb02d0ae598e95dc970b74767f19372d61af8 fails",
        "the credentials page of testuser1 is broken, creds screen for user42",
        "test the login with Chrome124, then sign in with iPhone15",
        "rename getUserToken to getUserToken2, then k8sSecret1",
        "rename the column api_token to api_token2, rename variable `userPassword` to `userPassword2`",
        "change getUserToken to getUserToken2",
        "migrate `api_token` to `api_token_v2`",
        "Renamed `fetchApiKey` to `fetchApiKeyV2` in 3 files",
        "(renamed `fetchApiKey` to `fetchApiKeyV2`)",
        "Rename: userToken to sessionToken2a",
        'Socks5Auth[Socks5Auth["UserPass"] = 2] = "UserPass";',
        "use Test2::Util::HashBase qw{ -pass -no_debug -number };",
        "\t252U, 252U, 252U, 252U,\n\t253U, 61U, 254U, 255U,\n",
        '{"region": {"sensitive": false, "value": "northwind"}, "sensitive": true, "other": {"value": "northwind"}}',
        "password: lives inside vault",
        'page.login("user", "products")',
        "# public key: age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
        "git config --global --unset user.password",
        "diff <(echo passes) <(sort keys); x --key-file=<(echo $KEY) --password-file=<(echo unclosed",
        "net use Z: \\\\srv\\share /user:ana *",
        "PWD=/home/ana/app-2/src",
        "seen in app 2, pass abc12x to it; the checks pass node18lts",
        '"The answer to "Which API key should I use?": "staging"',
        "Setting up libsecret-1-0:amd64 (0.20.5-3) ...",
        "Encrypt_key      [32]uint8\n",
        "The refresh cookie was `SameSite=Strict`, so Safari dropped it; then its cookie was `Max-Age=3600`.",
        "unsupported: the private key is *ed25519.PrivateKey, expected another",
        "f.pass = &emptyPass\n",
        "IP_IPSEC_LOCAL_CRED               = 0x19\n",
        "// run-pass\n\n#![feature(rust_2018_preview)]\n",
        "    password: '{{ x }}'\n    update_password: on_create\n",
        '"NextToken": "eyJOZXh0VG9rZW4iOiBudWxsLCAiYm90b190cnVuY2F0ZV9hbW91bnQiOiAyfQ=="',
        '"JobName": "keyphrasesanalysis2"',
        "assert_eq!(0x102030405060708090A0B0C0D0E0F00D_u128)",
        "    Token:                  '#ABB2BF',\n    Keyword:  '#C678DD',",
        '{"token": "#d8dee9", "foreground": "#abc"}',
        "    :param passphrase: the words\n    :type passphrase: :py:data:`bytes`\n",
        "git clone https://mueller77-dev@git.example.org/a.git https://contributor2@example.org/b.git",
        "see //team/notes:draft@example.org, and // todo:ana@example.org",
        "`bw unlock` prints the key; then run `bw unlock --check`. Use redis-cli auth to log in.",
        "DEAD BEEF 2345 CAFE 4567 2222 5A5A",
        "THIS THAT WITH FROM 2345 2346 2347 2222",
        "for py37 py36 py35 py34 py27, i386 arm7 mips ia64, and RX72 TX72 GND2 VCC5 PIN3",
        "Content-Type: multipart/form-data; boundary=----Form7MA4YWxkTrZu0gW\n\n------Form7MA4YWxkTrZu0gW--\n",
        "aws codebuild batch-get-builds --ids demo:e9c4f4df-3f43-41d2-ab3a-60fe2EXAMPLE",
        "class MLKEM768X25519PrivateKey: ...",
        "#define SN_pbe_WithSHA1And128BitRC4 1",
        "SunJCE PBESv2SHA256AndAES256CBC",
        "static int TclUniCharToUCS4(int ch)",
        "docs.example/classv8_1_1_string.html#a7c1bc8886115d7ee46f1d571dd6ebc6d",
        "node-v22.0.0-nightly20240424ddd0a9e494-linux",
        "__m512i _mm256_gf2p8affine_epi64_epi8(int x)",
        "fun:_ZN2v88internal12_GLOBAL__N_16InvokeEPNS0_7IsolateERKNS1_12InvokeParamsE",
        f"  b'+AAAAAQA{WRAPPED}'\n  b'ABUAFgAXABgAGQAaABsAHAAdAB4AHwBcAH4Afw-')",
        "permissions:\n  id-token: write\n  contents: read",
        "passwd:         files systemd",
        "aws_secret_access_key = <AWS Secret Key Here>\n",
        '"NextLockToken": "714a0cfb-0000-0000-0000-2959c8b9a684"',
        "aws waf list --starting-token Z3M3LMPEXAMPLE",
        "d_grpasswd='define'\nd_pwpasswd='undef'",
        "my ($key_pem, $password) = @ARGV;",
        "google-auth-library-credentials:1.3.0",
        "<privateKey>/path/to/private/key</privateKey>",
        '{"pattern": "secretsmanager:[a-z]+:secret:.*|)$"}',
        'Digest realm="a", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", qop="auth"',
        '[{key:"wrapRangeInTextNode",value:function(e){}}]',
        "F_CLIENT_MASTER_KEY                     OP_SSLEAY_080_CLIENT_DH_BUG\n",
        "pw_name:pw_passwd:pw_uid:pw_gid:pw_dir:pw_shell",
        "SSL2_MT_CLIENT_MASTER_KEY => 'Client key'",
        "5whMcD60yRLBxWeDXTPzAxHsatBT4tG6NmCUgLthY2xbF37fQJQeqw3CIShwiP/W\nJmxsYAQlTlV+fe+/lEjetx3dcI0FX4ilm/LC7urRQEFtYjgdVgbFA0dRIBn8exAL\n",
        "gcloud composer user\\-workloads\\-secrets describe",
        '--secret="projects/app/secrets/db/versions/1"',
        "F</etc/passwd> file, as in cat F</etc/passwd>",
        '{token:"identifier",regex:/r#[a-z]/}',
        '"KW-47";"WSPARCIE"\n"KW-48";"PIN"\n"KW-49";"26-BIT"',
        "github.com/docker/docker-credential-helpers v0.8.2 // indirect",
        "github.com/docker/docker-credential-helpers v0.7.0/go.mod h1:rETQfLdHNT3foU5kuNkFR1R1V12OJRRO5lzt2D1b5X0=",
        "example.org/sdk/v2/credentials v1.17.48 h1:IYdLD1qTJ0zanRavulofmqut4afs45mOWEI+MzZtTfQ=",
        "| [example.org/sdk-go-v2/credentials](https://example.org/aws/sdk-go-v2) | `1.17.18` | `1.17.21` |",
        "[Commits](https://example.org/sdk-go-v2/compare/credentials/v1.17.27...credentials/v1.17.30)",
        "github.com/cpuguy83/dockercfg v0.3.1/go.mod h1:sugsbF4//dDlL/i+S+rtpIWp+5h0BHJHfjj5/jFyUJc=",
        'args{line: "gpg-pubkey 0 f5282ee4 58ac92a3 (none) (none)"}',
        'key:     "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBCvonZPuWvVd+qqVaIkC7IMP1GWITccQKCZWZCgb"',
        "topURL = cwe.OwaspTopTen2017GitHubURLEn[dict.OwaspTopTen2017]",
        'TrivyK8sVulnDB CveContentType = "trivy:k8s"',
    ],
)
def test_what_only_looks_like_a_secret_stays(line: str) -> None:
    assert clean(line, origin="tool").value == line


@pytest.mark.parametrize("text", ["if the C<private> parameter is set", "added the L</private> field", r"\<private\>$"])
def test_a_format_code_or_a_pattern_of_a_search_is_no_tag(text: str) -> None:
    assert clean(text, origin="tool").value == text
    assert clean(f"{text}: <private>S</private>").value == f"{text}: [PRIVATE]"


@pytest.mark.parametrize(
    "line",
    [
        "client_id = 'Xb6b992d6d2f48Qe64bc59180bfe'",
        "session_id: kxQwbtZrvGh3JqbWzn7Lmq",
        "secret_id=kxQwbtZrvGh3JqbWzn7Lmq",
        "request_token: 1q2w3e4r5t6y",
        "P/W: xK9vQ2mB",
        "bob,xK9vQ2mB\nname,password\nann,pQ7mZ1xT",
    ],
)
def test_what_may_open_something_is_masked_although_its_name_resembles_that_of_an_id(line: str) -> None:
    assert clean(line, origin="tool").redacted == 1


@pytest.mark.parametrize("word", sorted(word.decode() for word in secrets.HARMLESS))
def test_a_harmless_name_hides_nothing_whatever_stands_beside_it(word: str) -> None:
    value = "tX9qW4mZ7kLp2VbN"
    around = [
        "{}={}", "{}: {}", '"{}": "{}"', "--{} {}", "the {} is {}", "{} {}", "| {} |\n|---|\n| {} |", "({}) {}",
        "{}\n{}\n", "<{}>{}<", 'env("{}") or "{}"', "?{}={}", "{}, {}", "SET {} FOR bob = '{}'", "{} -> {}",
        "name: {}\nvalue: {}",
    ]  # fmt: skip
    for written in (word, word.capitalize(), word.upper()):
        for form in around:
            text = form.format(written, value)
            assert [*pairs.find(text, text.lower(), ()), *tables.find(text, text.lower())] == [], text
        assert not secrets.may_name(f"12 {written}: {value}\n".lower())
        weight, _ = names.weigh(written)
        assert (weight, written.endswith("key"), "-" in written) == (names.NONE, False, False)


@pytest.mark.parametrize(
    "text", ["passed pass x", "keys; api_key", "my_passed", "passed sid=", "authors 암호", "pin, passed"]
)
def test_beside_a_harmless_name_any_other_is_looked_at(text: str) -> None:
    assert secrets.may_name(text)


@pytest.mark.parametrize(
    "line",
    [
        "Lozinka: obavezna", "Geslo: obvezno", "Heslo: povinné", "Hasło: wymagane", "Пароль: обязателен",
        "Wachtwoord: verplicht", "Lösenord: obligatoriskt", "Adgangskode: påkrævet", "Şifre: zorunlu",
        "Jelszó: kötelező", "Parolă: obligatorie", "Κωδικός: υποχρεωτικός", "סיסמה: חובה", "كلمة المرور: مطلوبة",
        "पासवर्ड: आवश्यक", "รหัสผ่าน: จำเป็น", "Salasana: pakollinen",
        "암호는 AES256", "my password is AES256", "psexec.py -hashes LMHASH:NTHASH ana@10.0.0.5",
    ],
)  # fmt: skip
def test_that_a_password_is_required_or_how_it_is_hashed_is_no_password(line: str) -> None:
    assert clean(line, origin="tool").value == line
    assert "REDACTED" in clean(line.rpartition(" ")[0] + " gartenzaun47", origin="tool").value or "psexec" in line


@pytest.mark.parametrize("before", ["untrusted comment: minisign public key E7620F18\n", "minisign -Vm x.tar -P "])
def test_a_public_key_of_minisign_stays_and_a_secret_key_does_not(before: str) -> None:
    public = before + "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
    secret = b64encode(b"EdScB2" + sha512(b"a").digest() + sha512(b"b").digest()[:24]).decode()

    assert clean(public, origin="tool").value == public
    assert secret not in clean(before + secret, origin="tool").value
