"""Passwords that only their place gives away are masked, even everyday words; what is at such a place else stays."""

from __future__ import annotations

from base64 import b64encode

import pytest

from mdmem.privacy import clean

WORD = "dragon"
CODED = b64encode(b"dragonfly").decode()
SID = "AC" + "1234567890abcdef" * 2
TOKEN = "0a1b2c3d4e5f6071" * 2


@pytest.mark.parametrize(
    "text",
    [
        "my $dbh = DBI->connect('dbi:Pg:dbname=shop', 'ana', '{}', {RaiseError => 1});",
        "DBI.connect('DBI:Mysql:test', 'ana', '{}')",
        "ssh.connect('10.0.0.4', 22, 'ana', '{}')",
        'transport.connect(None, "deploy", "{}")',
        'transport.auth_password("deploy", "{}")',
        "ftp = FTP('ftp.example.org', 'ana', '{}')",
        "with FTP_TLS('ftp.example.org', 'ana', '{}') as ftp:",
        "Net::FTP.open('host', 'ana', '{}')",
        "server.login('ana', '{}')",
        'mysql_real_connect(con, "localhost", "root", "{}", "shop", 0, NULL, 0)',
        "cx_Oracle.connect('scott', '{}', 'db:1521/x')",
        'oracledb.connect("scott", "{}", "db/x")',
        'oci_connect("scott", "{}", "db/x")',
        '$pdo = new \\PDO($dsn, "ana", "{}", $options);',
        'ldap_bind($ds, "cn=admin,dc=example", "{}")',
        'conn.simple_bind_s("cn=admin,dc=example,dc=org", "{}")',
        'l.Bind("cn=admin,dc=example,dc=org", "{}")',
        'smtp.PlainAuth("", "ana@example.org", "{}", "smtp.example.org")',
        "signInWithEmailAndPassword(auth, 'ana@example.org', '{}')",
        "firebase.auth().signInWithEmailAndPassword('ana@example.org', '{}')",
        "redis.auth('{}')",
        "r.execute_command('AUTH', '{}')",
        'amqp.Dial(fmt.Sprintf("amqp://%s:%s@%s/", "ana", "{}", "mq"))',
        "'mysql://%s:%s@%s' % ('ana', '{}', host)",
        "USER ana PASS {}",
        ". LOGIN ana {}",
        "AUTH {}\n+OK\nGET x",
        "redis> AUTH {}\nOK",
        "AUTH default {}\n+OK",
        "*2\r\n$4\r\nAUTH\r\n$6\r\n{}\r\n",
        "*3\n$4\nAUTH\n$3\nana\n$6\n{}\n",
        "username ana privilege 15 secret {}",
        "set system login user ana authentication plain-text-password-value {}",
        'printf "%s:%s" ana {} | chpasswd',
        "impdp system/{} directory=d",
    ],
)
def test_an_everyday_word_is_masked_where_only_a_password_can_stand(text: str) -> None:
    stored = clean(text.replace("{}", WORD), origin="tool").value

    assert WORD not in stored
    assert "[REDACTED]" in stored


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f'client = Client("{SID}", "{TOKEN}")', TOKEN),
        (f"const client = require('twilio')('{SID}', '{TOKEN}');", TOKEN),
        (f"EHLO x\nAUTH LOGIN\nYW5h\n{CODED}\n235 2.7.0 Accepted", CODED),
        (" key 7 0822455D0A16", "0822455D0A16"),
        ('Can you try "mandolin" as password for the database?', "mandolin"),
    ],
)
def test_a_secret_without_a_name_is_masked_by_what_is_before_it(text: str, secret: str) -> None:
    assert secret not in clean(text, origin="tool").value


@pytest.mark.parametrize(
    "text",
    [
        "obj.connect('notify', 'changed', 'redraw', 'later')",
        "scene.bind('click', 'select')",
        "server.login(user, secret)",
        "show.login('Log in', 'page')",
        "ftp = FTP(host, timeout=30)",
        "socket.connect('db', 5432)",
        "redis.auth(config)",
        "AUTH is needed\nfor all of these",
        "- AUTH middleware\n- OK button",
        "AUTH is required\nOK",
        "> AUTH header\nOK",
        "AUTH PLAIN\n+OK",
        "AUTH LOGIN\ntest\nfile",
        "auth.login('facebook', 'popup')",
        "router.login('/login', 'dashboard')",
        "$4\nAUTH\n",
        "'%s:%s@%s' % ('ana', 'dragon', host)",
        "f.write('https://%s:%s@%s/' % (user, secret, host))",
        'Run printf "%s" done | tee log',
    ],
)
def test_what_is_no_password_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize("line", ["-\tpassword", "- password", "-\u00a0pass", "-\n    pass"])
def test_a_line_of_a_diff_in_a_list_is_no_option(line: str) -> None:
    assert clean([line, "dragon"], origin="tool").value == [line, "dragon"]


def test_the_code_of_a_door_may_have_four_digits_and_that_of_a_message_has_six() -> None:
    for said in ("the alarm code is {}", "the door code is {}."):
        assert clean(said.format("2866"), origin="prompt").value == said.format("[REDACTED]")
    assert clean("the verification code is 2866", origin="prompt").redacted == 0


def test_the_port_of_a_service_that_is_named_like_a_password_stays() -> None:
    lines = "kpasswd\t\t464/tcp\nkpasswd\t\t464/udp\n"

    assert clean(lines, origin="tool").value == lines


@pytest.mark.parametrize(
    "line",
    [
        "echo '::add-mask::{}'",
        "cat <<< '{}'",
        "127.0.0.1:6379> auth {}",
        "eas secret:create --name FOO --value {}",
        "sc.exe config spooler password= {}",
        "mc alias set shop http://h ana {}",
    ],
)
def test_a_password_in_a_command_is_masked_in_a_text_of_any_length(line: str) -> None:
    text = line.replace("{}", "otter#pond56") + "\n" + "The build went on with the next of its steps.\n" * 200

    assert clean(text, origin="tool").value == text.replace("otter#pond56", "[REDACTED]")


@pytest.mark.parametrize(
    "line",
    [
        "mc alias set shop http://minio.lan:9000 admin {} --api S3v4",
        "mc admin user add shop ana {}",
        "glab variable set DEPLOY {} --scope production",
        "glab variable update DEPLOY -v {} -s x",
        "iwctl -P {} station wlan0 connect Home",
        "smbclient //host/share {}",
        "smbclient //host/share {} -U ana -c ls",
        "smbclient '//host/share' {} -c ls",
        "rocommunity {} 10.0.0.0/8",
        "rwcommunity6 {}",
        "createUser ana SHA {} AES {}",
        "ctr image pull --user ana:{} docker.io/x",
        "supabase link --project-ref x -p {}",
        "nuget setapikey {} -s x",
        "etcdctl user add ana:{}",
        "netsh wlan set hostednetwork mode=allow ssid=x key={}",
        "wbinfo -a ana%{}",
        "sendemail -f a@b.example -xu ana -xp {}",
        'msmtp --passwordeval="echo {}"',
        "exaplus -c h -u ana -p {}",
        "ccrypt -K {} f",
        "mcrypt -k {} f",
        "gpg-preset-passphrase -P {} -c x",
        "pdftoppm -opw {} a.pdf",
        "swift -A https://u -U ana -K {} list",
        "cf create-user ana {}",
        "firebase functions:config:set mail.code={}",
        "irssi -c h -w {}",
        "vmrun -gu ana -gp {} runProgramInGuest x",
        "virsh set-user-password vm root {}",
        "doveadm auth test ana {}",
        "testsaslauthd -u ana -p {}",
        "radtest ana {} localhost 0 {}",
        "ldapvi -D x -w {}",
        "ldapcompare -w {} x",
        "ipa-client-install -p admin -w {}",
        "ipa-server-install -p {} -a {}",
        'kadmin.local -q "addprinc -pw {} ana"',
        "nikto -id ana:{} -h x",
        "gobuster dir -U ana -P {} -u x",
        "mitmproxy --proxyauth ana:{}",
        "mullvad account login {}",
        "hdparm --security-unlock {} /dev/sda",
        "sedutil-cli --initialSetup {} /dev/sda",
        "adb shell locksettings set-password {}",
        "webrepl_cli.py -p {} f h:/f",
        "keydb-cli -a {}",
        "valkey-cli -a {} ping",
        "ksql -u ana -p {} http://h",
        "addauth digest ana:{}",
        "choco apikey -k {} -s x",
        "conda token set {}",
        "anaconda -t {} upload x",
        "cabal upload -u ana -p {} x",
        "cpan-upload -u ana -p {} x",
        "bitcoin-cli encryptwallet {}",
        "bitcoin-cli walletpassphrasechange {} {}",
        "electrum -W {} x",
    ],
)
def test_a_password_is_masked_where_a_command_documents_it(line: str) -> None:
    text = line.replace("{}", "otterpond56")

    assert clean(text, origin="tool").value == line.replace("{}", "[REDACTED]")


@pytest.mark.parametrize(
    "line",
    [
        "netsh wlan show profile name=home key=clear",
        "smbclient //host/share -U user01 -c ls",
        "smbclient -L //host -N",
        "the rocommunity directive allows any host",
        "rocommunity public",
        "mc admin user add shop ana $SECRET",
        "mc alias set shop http://minio.lan:9000",
        "etcdctl user add ana",
        "wbinfo -a ana",
        "hdparm --security-erase NULL /dev/sda",
        "glab variable set DEPLOY --scope staging",
        "radtest starts a login",
        "swift -k x.swift",
        "bitcoin-cli encryptwallet <passphrase>",
        "nuget setapikey <key> -s x",
        "conda token set TOKEN",
        "firebase functions:config:set mail.mode=production",
        "samba-tool user create --help",
    ],
)
def test_an_argument_that_is_no_password_stays(line: str) -> None:
    assert clean(line, origin="tool").value == line
