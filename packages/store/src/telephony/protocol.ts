import type { Scope } from '@parley/contract'
import type { TrunkDetails } from './trunk-details.ts'

/** A trunk that takes calls, as an engine needs it to know whose an INVITE is. */
export interface InboundTrunk {
  readonly scope: Scope
  readonly trunk_id: string
  readonly name: string
  /** Of its inbound SIP URI's token, in lower-case hexadecimal: the token itself does not leave the database. */
  readonly token_sha256: string
  /** Where calls go out; its addresses are the trunk's sources where staff set none (`details.source`). */
  readonly termination_uri: string
  /** The settings in force, those of its profile included. */
  readonly details: TrunkDetails
  /** The first that was imported on it: its country is the trunk's where staff set none. Null: it has no number. */
  readonly first_number: string | null
}

/** A trunk that calls go out over. */
export type OutboundTrunk = Pick<InboundTrunk, 'scope' | 'trunk_id' | 'termination_uri' | 'details'>

/** A trunk that a call may belong to, with the number that was called as that trunk's country reads it. */
interface ReachableTrunk {
  readonly scope: Scope
  readonly trunk_id: string
  /** E.164. */
  readonly phone_number: string
}

/** What engines know of the trunks of all tenants. */
export interface TelephonyAcrossTenants {
  /**
   * Another text after any trunk or number changed, and never one that was before. Cheap: for looking every second. Read
   * it before `inboundTrunks`, which then is at least as new.
   */
  revision(): Promise<string>
  /** Every trunk with inbound on. */
  inboundTrunks(): Promise<InboundTrunk[]>
  /** Trunks that staff set to be pinged whether or not they are in use, at most 1,000. */
  pingedTrunks(): Promise<OutboundTrunk[]>
  /** Trunks over which people were called in the last day, at most 1,000. */
  diallingTrunks(): Promise<OutboundTrunk[]>
  /**
   * Those of the trunks that have the number: a call without a token belongs to one only if it is the only one. `onlyConfirmed`: the
   * claim to the number must be confirmed by staff, because nothing but the source address names the trunk.
   */
  reached<Trunk extends ReachableTrunk>(candidates: readonly Trunk[], onlyConfirmed: boolean): Promise<Trunk[]>
}
