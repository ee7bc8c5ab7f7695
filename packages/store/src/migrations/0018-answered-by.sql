-- What answered a call, finer than `contact`: human, voicemail, mailbox_unavailable, ivr, screener, fax, announcement or silence.
alter table parley.runs add column answered_by text;
