/** The tables and views of a log file, by version. */

/** Marks a SQLite file as a log of this project: "PTCL". */
export const APPLICATION_ID = 0x5054434c

/**
 * One step for each version, in order; a released one is never changed.
 * `facts` is a flat extract of `body` for the views, since SQLite reads JSON of 1,000 levels only.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    run_id TEXT,
    sub_call_id TEXT,
    session_id TEXT,
    type TEXT NOT NULL,
    at REAL NOT NULL,
    facts TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_by_run ON events (run_id, type);
  CREATE INDEX events_by_call ON events (run_id, sub_call_id, type) WHERE sub_call_id IS NOT NULL;
  CREATE INDEX events_by_type ON events (type, seq);

  CREATE VIEW runs (run_id, started_at, ended_at, outcome, owner, description, source) AS
  SELECT s.run_id, s.at, e.at, e.facts ->> 'outcome', s.facts ->> 'owner', s.facts ->> 'description', s.facts ->> 'source'
  FROM events s
  LEFT JOIN events e ON e.run_id = s.run_id AND e.type = 'program/end'
  WHERE s.type = 'program/start'
  ORDER BY s.seq;

  CREATE VIEW calls (
    run_id, sub_call_id, parent_call_id, root_call_id, name, started_at, settled_at, duration_ms, is_error, error_code,
    bytes_in, bytes_out
  ) AS
  SELECT s.run_id, s.sub_call_id, s.facts ->> 'parentCallId', s.facts ->> 'rootCallId', s.facts ->> 'name',
    s.at, e.at, e.at - s.at, e.facts ->> 'isError', e.facts ->> 'errorCode', s.facts ->> 'bytes', e.facts ->> 'bytes'
  FROM events s
  LEFT JOIN events e ON e.run_id = s.run_id AND e.type = 'tool/ptc-dispatch' AND e.sub_call_id = s.sub_call_id
  WHERE s.type = 'tool/ptc-dispatch-start'
  ORDER BY s.seq;
  `,
]

/** Statement that appends one event. */
export const INSERT_EVENT =
  'INSERT INTO events (run_id, sub_call_id, session_id, type, at, facts, body) VALUES (?, ?, ?, ?, ?, ?, ?)'
