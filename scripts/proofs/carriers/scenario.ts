import type { LegOptions } from '@parley/leg'
import type { CarrierHarness } from './carrier-harness.ts'
import type { SocketHarness } from './socket-harness.ts'

/** The public thread in which the behaviour was reported, or the clause of the RFC that defines it. */
type Source = { readonly issue: string } | { readonly clause: string }

/** One way in which a carrier misbehaves, or does what a gateway somewhere did not expect. */
interface ScenarioText {
  /** Name in the report: lower case with hyphens. */
  readonly name: string
  /** What the carrier does; the row of docs/interop.md. */
  readonly carrier: string
  /** What the engine does then. */
  readonly engine: string
  /** Whether the engine refuses what the carrier wants, on purpose. */
  readonly unsupported?: true
  readonly source: Source
}

/** A scenario in virtual time, with signalling and media of the engine and no agent. */
export interface VirtualScenario extends ScenarioText {
  /** Settings of the trunk for calls of the carrier; default: plain RTP. */
  readonly answering?: LegOptions
  /** Throws `ScenarioFailure` when the engine does something else. */
  run(harness: CarrierHarness): Promise<void>
}

/** A scenario with a whole engine on loopback sockets. */
export interface SocketScenario extends ScenarioText {
  /** Floods the engine, and therefore runs after the others. */
  readonly floods?: true
  /** Throws `ScenarioFailure` when the engine does something else. */
  runOverSockets(harness: SocketHarness): Promise<void>
}

export type Scenario = VirtualScenario | SocketScenario

/** Scenarios of one theme; a table of docs/interop.md. */
export interface ScenarioGroup {
  readonly title: string
  readonly scenarios: readonly Scenario[]
}
