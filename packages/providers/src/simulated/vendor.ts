import { ESPEAK_SPANISH, FLITE_VOICES } from '../local/vendor.ts'
import type { Vendor } from '../vendor.ts'
import { HashEmbedder } from './hash-embedder.ts'
import { TonesVoice } from './io/tones-voice.ts'
import { TonesRecogniser } from './tones-recogniser.ts'

/** A voice that adds its words as tones, the recogniser that decodes them, and an embedder that counts words. */
export const simulated: Vendor = {
  name: 'simulated',
  settings: null,
  recognisers: [{ models: ['tones-1'], billsSilence: false, open: () => new TonesRecogniser() }],
  embedders: [
    { models: ['hash-1'], dimensions: { 'hash-1': HashEmbedder.DIMENSIONS }, open: () => new HashEmbedder() },
  ],
  voices: [{ models: ['tones-1'], open: () => new TonesVoice(), voices: [...FLITE_VOICES, ...ESPEAK_SPANISH] }],
}
