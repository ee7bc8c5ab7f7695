export type {
  CallerTurn,
  DialogueInput,
  DialogueOptions,
  DialogueOutput,
  Endpointing,
  Prosody,
  SpokenWord,
  TurnSettings,
} from './protocol.ts'
