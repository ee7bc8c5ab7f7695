import { ESPEAK_SPANISH, FLITE_VOICES } from '../local/vendor.ts'
import type { Vendor } from '../vendor.ts'
import { TonesVoice } from './io/tones-voice.ts'
import { TonesRecogniser } from './tones-recogniser.ts'

/** The simulated pair: a voice that adds its words as tones, and the recogniser that decodes them. */
export const simulated: Vendor = {
  name: 'simulated',
  settings: null,
  recognisers: [{ models: ['tones-1'], open: () => new TonesRecogniser() }],
  voices: [{ models: ['tones-1'], open: () => new TonesVoice(), voices: [...FLITE_VOICES, ...ESPEAK_SPANISH] }],
}
