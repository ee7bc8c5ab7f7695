import type { TestCase } from '@parley/contract'
import { containsText } from './json-conditions.ts'
import type { MissedStep } from './trial-record.ts'

interface StepEvidence {
  /** By step (from 1): what the agent said after it. */
  readonly heard: ReadonlyMap<number, readonly string[]>
  readonly landings: ReadonlyMap<number, string>
  /** The agent hung up. */
  readonly hungUp: boolean
}

/** Expectations of a script's steps that did not come true. */
export function missedSteps(caller: TestCase['caller'], { heard, landings, hungUp }: StepEvidence): MissedStep[] {
  if (caller.kind !== 'script') return []
  return caller.steps.flatMap(({ expect }, index) => {
    const step = index + 1
    const missed: MissedStep[] = []
    const text = plain((heard.get(step) ?? []).join(' '))
    for (const words of expect?.hears ?? [])
      if (!containsText(text, plain(words))) missed.push({ step, message: `the agent did not say "${words}"` })
    const node = landings.get(step) ?? 'no node'
    if (expect !== undefined && expect.lands.length > 0 && !expect.lands.includes(node))
      missed.push({ step, message: `the turn ended at ${node}, not at ${expect.lands.join(' or ')}` })
    if (expect?.hung_up === true && !hungUp) missed.push({ step, message: 'the agent did not hang up' })
    return missed
  })
}

function plain(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')
}
