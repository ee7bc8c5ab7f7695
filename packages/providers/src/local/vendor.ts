import { catalogueVoice, type Vendor } from '../vendor.ts'
import { LocalEspeak } from './io/espeak-voice.ts'
import { LocalFlite } from './io/flite-voice.ts'

export const FLITE_VOICES = [
  catalogueVoice('slt', 'female', ['en']),
  catalogueVoice('rms', 'male', ['en']),
  catalogueVoice('awb', 'male', ['en']),
  catalogueVoice('kal16', 'male', ['en']),
  catalogueVoice('kal', 'male', ['en']),
]
export const ESPEAK_SPANISH = [
  catalogueVoice('es', 'male', ['es'], 'Español'),
  catalogueVoice('es-419', 'male', ['es'], 'Español (América)'),
]
const ESPEAK_ENGLISH = [
  catalogueVoice('en-us', 'male', ['en'], 'English (US)'),
  catalogueVoice('en-gb', 'male', ['en'], 'English (UK)'),
]

/** Voices that run on this machine. */
export const local: Vendor = {
  name: 'local',
  settings: null,
  voices: [
    { models: ['flite'], open: () => new LocalFlite(), voices: FLITE_VOICES },
    { models: ['espeak-ng'], open: () => new LocalEspeak(), voices: [...ESPEAK_ENGLISH, ...ESPEAK_SPANISH] },
  ],
}
