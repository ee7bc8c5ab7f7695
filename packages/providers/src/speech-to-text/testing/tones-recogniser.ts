import type { OpenRecogniser } from '@parley/fakes'
import { TonesRecogniser } from '../../simulated/tones-recogniser.ts'
import { wordByWord } from '../word-by-word.ts'

/** The recogniser behind the fakes in tests, which recognises speech of `TonesVoice`. */
export const tonesRecogniser: OpenRecogniser = language => wordByWord(new TonesRecogniser(), language)
