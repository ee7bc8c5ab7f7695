export type { CarrierLedgerEntry } from './carrier/ledger-entry.ts'
export { type LedgerCall, LedgerQueries } from './carrier/ledger-queries.ts'
export type { NumberRuleInput } from './carrier/number-plan.ts'
export {
  type Received,
  type RequestWording,
  ScriptedCarrier,
  type Wording,
} from './carrier/scripted-carrier.ts'
export { readScenario } from './fleet/scenario.ts'
export { type CarrierConfig, FakeCarrier } from './io/fake-carrier.ts'
export { runFleet } from './io/fleet-run.ts'
export { RunFiles } from './io/run-files.ts'
export { shippedScenario } from './io/shipped-scenario.ts'
export { WebhookReceiver } from './io/webhook-receiver.ts'
