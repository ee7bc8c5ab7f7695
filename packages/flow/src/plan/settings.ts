import type { plannedSettings, settingValues } from '@parley/contract'
import type { z } from 'zod'

/** The settings that an agent sets explicitly. */
export type SettingValues = z.output<typeof settingValues>
/** How the agent behaves on a call, every default filled in. Names in camel case, times in ms. */
export type Settings = z.output<typeof plannedSettings>

/** Known values of the string settings. Another value is a warning, and the default is used. */
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
