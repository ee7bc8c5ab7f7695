import type { TrunkDetails, TrunkProfile } from '../trunk-details.ts'
import { bandwidth } from './bandwidth.ts'
import { generic } from './generic.ts'
import { telnyx } from './telnyx.ts'
import { twilio } from './twilio.ts'
import { vonage } from './vonage.ts'

/** Settings that carriers have in common for all their customers, by the name of `trunk set --profile`. */
const TRUNK_PROFILES: Readonly<Record<string, TrunkProfile>> = { twilio, telnyx, bandwidth, vonage, generic }

export const TRUNK_PROFILE_NAMES = Object.keys(TRUNK_PROFILES)

/** The settings in force: the profile's, then those that staff set. */
export function detailsInForce(details: TrunkDetails): TrunkDetails {
  const { profile } = details
  if (profile === undefined || !Object.hasOwn(TRUNK_PROFILES, profile)) return details
  return { ...TRUNK_PROFILES[profile], ...details }
}
