import { at, type Examples } from './values.ts'

const usageRow = {
  key: 'ada',
  runs: 1,
  connected_ms: 1,
  llm_input_tokens: 1,
  llm_output_tokens: null,
  stt_ms: 1,
  tts_characters: 1,
  cost: { currency: 'USD', amount: '0.01', completeness: 'complete' },
}
const rateCard = {
  configured: true,
  rate_card_id: 'standard',
  currency: 'USD',
  effective_at: at,
  reserve_usd: { phone: '1', web: '1', cloud: '1' },
  rates: [{ meter: 'stt_ms', per: 1, price_usd: '0.1', channel: null, provider: null, model_id: null }],
}
const budget = {
  configured: true,
  budget_id: 'monthly',
  policy_id: 'policy-1',
  period: { from: at, to: at },
  cap_usd: '1',
  spent_usd: '1',
  remaining_usd: '-1.5',
  exceeded: true,
  unresolved_runs: 0,
  as_of: at,
}

export const usageExamples = {
  'usage.summary': {
    answer: {
      window: { from: at, to: '2026-02-01T00:00:00.000Z' },
      group_by: 'agent',
      purpose: 'billable',
      rows: [usageRow],
      completeness: 'complete',
      next_cursor: null,
    },
  },
  'usage.rate_card': { answer: rateCard },
  'budgets.get': { answer: budget },
  'budgets.update': { body: { cap_usd: '1000000.50', expected_policy_id: 'policy-1' }, answer: budget },
} as const satisfies Examples
