import type { plannedSettings, settingValues } from '@parley/contract'
import type { z } from 'zod'

/** The settings that an agent sets explicitly. */
export type SettingValues = z.output<typeof settingValues>
/** The settings of a call, with every default filled in. Times are in ms. */
export type Settings = z.output<typeof plannedSettings>

/** Known values of the string settings. Any other value gets a warning, and the default is used. */
export const KNOWN_WORDS = {
  ambientSound: [
    'none',
    'coffee-shop',
    'convention-hall',
    'summer-outdoor',
    'mountain-outdoor',
    'static-noise',
    'call-center',
  ],
  denoisingMode: ['no-denoise', 'noise-cancellation', 'noise-and-background-speech-cancellation'],
  sttMode: ['fast', 'accurate', 'custom'],
} as const
