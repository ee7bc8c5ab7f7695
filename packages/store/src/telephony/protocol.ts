import type { Scope } from '@parley/contract'
import type { TrunkDetails } from './trunk-details.ts'

/** A trunk that accepts inbound calls, with what an engine needs to decide to which tenant an INVITE belongs. */
export interface InboundTrunk {
  readonly scope: Scope
  readonly trunk_id: string
  readonly name: string
  /** SHA-256 of the token in its inbound SIP URI, in lower-case hexadecimal: the token itself does not leave the database. */
  readonly token_sha256: string
  /** SIP URI to which outbound calls are sent. Its addresses are also the accepted sources unless staff set others (`details.source`). */
  readonly termination_uri: string
  /** The settings in force, those of its profile included. */
  readonly details: TrunkDetails
  /** The first number that was imported on it, whose country is that of the trunk unless staff set another. Null: it has no number. */
  readonly first_number: string | null
}

/** A trunk for outbound calls. */
export type OutboundTrunk = Pick<InboundTrunk, 'scope' | 'trunk_id' | 'termination_uri' | 'details'>

/** A trunk that a call may belong to, with the called number as it is read in the country of that trunk. */
interface ReachableTrunk {
  readonly scope: Scope
  readonly trunk_id: string
  /** E.164. */
  readonly phone_number: string
}

/** Queries of engines on the trunks of all tenants. */
export interface TelephonyAcrossTenants {
  /**
   * A text that changes whenever a trunk or a number changes, and never returns to an earlier value. It is cheap enough to be read every
   * second. Read it before `inboundTrunks`, whose result is then at least as new.
   */
  revision(): Promise<string>
  /** Every trunk that accepts inbound calls. */
  inboundTrunks(): Promise<InboundTrunk[]>
  /** Trunks that staff chose to ping (OPTIONS) whether or not they are in use, at most 1,000. */
  pingedTrunks(): Promise<OutboundTrunk[]>
  /** Trunks over which outbound calls were made in the last day, at most 1,000. */
  diallingTrunks(): Promise<OutboundTrunk[]>
  /**
   * The candidates whose environment has the called number on that trunk. A call without a token belongs to a trunk only if it is the only
   * one. `onlyConfirmed`: staff must have confirmed the claim to the number, because nothing but the source address names the trunk.
   */
  reached<Trunk extends ReachableTrunk>(candidates: readonly Trunk[], onlyConfirmed: boolean): Promise<Trunk[]>
}
