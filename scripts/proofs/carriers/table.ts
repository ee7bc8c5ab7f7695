import { ANSWERS } from './answers.ts'
import { CALLERS } from './callers.ts'
import { DIGITS } from './digits.ts'
import { FORKS } from './forks.ts'
import { HANG_UPS, REFRESHES } from './hang-ups.ts'
import { KEYS } from './keys.ts'
import { MEDIA } from './media.ts'
import { OFFERS } from './offers.ts'
import { OUTCOMES } from './outcomes.ts'
import { REFUSALS } from './refusals.ts'
import type { ScenarioGroup } from './scenario.ts'

/** All scenarios, by theme. */
export const SCENARIO_GROUPS: readonly ScenarioGroup[] = [
  FORKS,
  ANSWERS,
  REFUSALS,
  CALLERS,
  OFFERS,
  REFRESHES,
  MEDIA,
  DIGITS,
  KEYS,
  HANG_UPS,
  OUTCOMES,
]
