import type { OpenHearing } from '@parley/fakes'
import { TonesRecogniser } from '../../simulated/tones-recogniser.ts'
import { wordByWord } from '../word-by-word.ts'

/** The hearing of fakes in tests: they understand what `TonesVoice` says. */
export const tonesHearing: OpenHearing = language => wordByWord(new TonesRecogniser(), language)
