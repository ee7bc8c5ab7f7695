-- How the browser of a web call connects: to the engine itself (its offer is in this row), or to a LiveKit server, where the engine
-- joins the room of the run as soon as the run is admitted.
alter table parley.web_calls add column kind text not null default 'direct' check (kind in ('direct', 'livekit'));
