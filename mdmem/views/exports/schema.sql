CREATE TABLE sessions (
    session TEXT PRIMARY KEY, project TEXT, agent TEXT, branch TEXT, title TEXT, started TEXT, ended TEXT,
    notes INTEGER, failed INTEGER, folder TEXT
);
CREATE TABLE notes (
    number INTEGER PRIMARY KEY, id TEXT, path TEXT UNIQUE, kind TEXT, title TEXT, created TEXT, project TEXT,
    session TEXT, prompt INTEGER, sequence INTEGER, tool TEXT, success INTEGER, pinned INTEGER, tags TEXT, meta TEXT,
    body TEXT
);
CREATE TABLE files (path TEXT, note INTEGER REFERENCES notes (number), changed INTEGER);
CREATE TABLE links (note INTEGER REFERENCES notes (number), target TEXT, how TEXT);
CREATE INDEX notes_by_id ON notes (id);
CREATE INDEX notes_by_session ON notes (session, prompt, sequence);
CREATE INDEX files_by_path ON files (path);
CREATE VIRTUAL TABLE notes_fts USING fts5 (
    title, body, tags, content=notes, content_rowid=number, tokenize='porter unicode61'
);
