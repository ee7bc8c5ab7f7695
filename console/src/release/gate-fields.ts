import type { OpenDraft } from '../agents/use-draft.ts'

type Gate = NonNullable<OpenDraft['draft']['settings']['releaseGate']>

/** The fractions of a gate, shown in percent: their least value, and what a new gate begins with. */
export const GATE_RATES = [
  { name: 'maximumFalsePass', label: 'gate.maximumFalsePass', standard: 0.05, least: 0.001 },
  { name: 'maximumFalseBlock', label: 'gate.maximumFalseBlock', standard: 0.05, least: 0.001 },
  { name: 'minimumEffect', label: 'gate.minimumEffect', standard: 0.1, least: 0.01 },
] as const satisfies readonly { name: keyof Gate; label: string; standard: number; least: number }[]

export const percentOf = (fraction: number) => Math.round(fraction * 1000) / 10
const fractionOf = (percent: string) => Math.round(Number(percent) * 10) / 1000

/** The gate that a form says; null: no suite is chosen, so there is none. `field`: text of a field, empty where nothing was typed. */
export function gateOf(suites: readonly string[], field: (name: string) => string): Gate | null {
  if (suites.length === 0) return null
  const [trials, usd] = [field('maximumTrials').trim(), field('maximumUsd').trim()]
  return {
    suites: [...suites],
    maximumFalsePass: fractionOf(field('maximumFalsePass')),
    maximumFalseBlock: fractionOf(field('maximumFalseBlock')),
    minimumEffect: fractionOf(field('minimumEffect')),
    ...(trials !== '' && { maximumTrials: Number(trials) }),
    ...(usd !== '' && { maximumUsd: usd }),
  }
}
