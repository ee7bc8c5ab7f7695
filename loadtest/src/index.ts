export { Carrier, type CarrierDial, type CarrierOptions } from './carrier/carrier.ts'
export type { CarrierCall } from './carrier/carrier-call.ts'
export { CarrierLedger, type CarrierLedgerOptions } from './carrier/carrier-ledger.ts'
export type { DigestAccount } from './carrier/digest-gate.ts'
export type { CarrierDirection, CarrierLedgerEntry, CarrierLedgerKind } from './carrier/ledger-entry.ts'
export {
  byCalled,
  type CallFilter,
  type ConcurrencyStep,
  type CountedUntil,
  type LedgerCall,
  LedgerQueries,
  type LedgerTransfer,
  runInHeader,
} from './carrier/ledger-queries.ts'
export type { CarrierBehaviour, NumberRule, NumberRuleInput } from './carrier/number-plan.ts'
export type { TransferPolicy } from './carrier/transfer-tap.ts'
export { type CarrierConfig, FakeCarrier, type FakeCarrierOptions, readCarrierLedger } from './io/fake-carrier.ts'
export { readWebhookLedger, WebhookReceiver, type WebhookReceiverOptions } from './io/webhook-receiver.ts'
export type { AnswerScriptsInput, AnswerStep } from './webhook/answer-script.ts'
export type { SignatureVerdict, WebhookEntry } from './webhook/webhook-entry.ts'
export { type Misorder, WebhookQueries } from './webhook/webhook-queries.ts'
