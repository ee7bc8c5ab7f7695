export { AnswerDetector } from './answer/answer-detector.ts'
export type {
  AnswerClass,
  AnswerInput,
  AnswerOutput,
  Evidence,
  Verdict,
} from './answer/protocol.ts'
export { CallerLanguage, type LanguageCause } from './language/caller-language.ts'
export type {
  CallerTurn,
  DialogueInput,
  DialogueOptions,
  DialogueOutput,
  Endpointing,
  SpokenWord,
  TurnSettings,
} from './protocol.ts'
export { SpeechProsody } from './speech-prosody.ts'
export { TurnMachine } from './turn-machine.ts'
