import type { OpenRecogniser } from '@parley/fakes'
import { TonesRecogniser } from '../../simulated/tones-recogniser.ts'
import { wordByWord } from '../word-by-word.ts'

/** The hearing of fakes in tests: they understand what `TonesVoice` says. */
export const tonesRecogniser: OpenRecogniser = language => wordByWord(new TonesRecogniser(), language)
