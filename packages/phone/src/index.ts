export { type AnsweredCall, AnsweringPhone, type AnsweringPhoneOptions } from './answering-phone.ts'
export type { CallerStep } from './caller/caller-step.ts'
export {
  type CallerTurn,
  callerTurns,
  type MissedExpectation,
  missedExpectations,
} from './caller/caller-turns.ts'
export { type AudioGap, GapDetector } from './caller/gap-detector.ts'
export { LineDamage, type LineDamageOptions } from './caller/line-damage.ts'
export type { ScriptPlayer } from './caller/script-player.ts'
export { CallerScript, type ImprovisedCaller } from './caller-script.ts'
export type { HeardLine } from './heard-transcript.ts'
export { PhoneCall, type PhoneCallOptions } from './phone-call.ts'
export { PhoneVoice } from './phone-voice.ts'
export { VirtualPhone } from './virtual-phone.ts'
