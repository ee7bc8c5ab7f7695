import type { plannedSettings, settingValues } from '@parley/contract'
import type { z } from 'zod'

/** The settings that an agent sets explicitly. */
export type SettingValues = z.output<typeof settingValues>
/** The settings of a call, with every default filled in. Times are in ms. */
export type Settings = z.output<typeof plannedSettings>
