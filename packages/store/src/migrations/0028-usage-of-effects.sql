-- What a run used since its inference effect before: [{meter, provider, model_id, quantity}]. The usage of a run whose process died is the sum.
alter table parley.run_effects add column usage jsonb;
