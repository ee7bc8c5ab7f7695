-- The run whose caller the case plays: the log of its inputs has the answers of its actions. Null: the case was written.
alter table parley.test_run_cases add column recorded_run_id uuid;
