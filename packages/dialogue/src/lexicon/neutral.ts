import type { LexiconData } from './lexicon-data.ts'

/** Words that most languages share, used for languages without a lexicon of their own. */
export const NEUTRAL: LexiconData = {
  language: 'und',
  dangling: '',
  weaklyDangling: '',
  fillers: 'um; uh; er; eh; hmm; hm; mm; mmm; ah; äh; ähm; euh',
  hesitations: '',
  answers: 'ok; okay; mm-hmm; mhm',
  closers: '',
  questionWords: '',
  digits: '',
  numbers: '',
  numberNames: '',
  spellingNames: '',
  connectors: '',
  months: '',
  announcers: '',
  dateWords: '',
  ordinals: '',
  backchannels: 'ok; okay; mm; mmm; mhm; mm-hmm; mm hmm; uh-huh; uh huh; aha; ah; oh; hm; hmm',
  assents: 'ok; okay; mhm; mm-hmm; mm hmm; uh-huh; uh huh; aha',
  stops: 'stop; no',
  greetings: 'hello',
  agentBackchannels: 'mm-hmm',
}
