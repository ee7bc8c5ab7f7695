import type { LegOptions } from '@parley/leg'
import type { CarrierHarness } from './carrier-harness.ts'

/** The public thread in which the behaviour was reported, or the clause of the RFC that defines it. */
export type Source = { readonly issue: string } | { readonly clause: string }

/** One way in which a carrier misbehaves, or does what a gateway somewhere did not expect. */
export interface Scenario {
  /** Name for `--only` and the report: lower case with hyphens. */
  readonly name: string
  /** What the carrier does; the row of docs/interop.md. */
  readonly carrier: string
  /** What the engine does then. */
  readonly engine: string
  /** Whether the engine refuses what the carrier wants, on purpose. */
  readonly unsupported?: true
  readonly source: Source
  /** Settings of the trunk for calls of the carrier; default: plain RTP. */
  readonly answering?: LegOptions
  /** Throws `ScenarioFailure` when the engine does something else. */
  run(harness: CarrierHarness): Promise<void>
}

/** Scenarios of one theme; a table of docs/interop.md. */
export interface ScenarioGroup {
  readonly title: string
  readonly scenarios: readonly Scenario[]
}

/** The engine did not do what the scenario expects. */
export class ScenarioFailure extends Error {}

/** Throws unless `actual` and `expected` are the same value, or the same list. */
export function check(what: string, actual: unknown, expected: unknown): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (found !== wanted) throw new ScenarioFailure(`${what}: expected ${wanted}, but it is ${found}`)
}

/** Throws unless `holds`. */
export function checkThat(what: string, holds: boolean): void {
  if (!holds) throw new ScenarioFailure(what)
}
