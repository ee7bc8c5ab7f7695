import type { DraftEnvironment } from '../draft/draft-environment.ts'
import { withDefaults } from './defaults.ts'
import type { DraftContent } from './draft.ts'
import type { Findings } from './findings.ts'
import type { Fix } from './fixes.ts'

type Lines = Pick<DraftEnvironment, 'trunks' | 'numbers'>

/** Warns of a phone agent without a trunk. Where `lines` are given, reports a trunk or a number that is not among them. */
export function checkTelephony({ settings, telephony }: DraftContent, findings: Findings, lines?: Lines): void {
  if (telephony === null) {
    if (!withDefaults(settings).channels.includes('phone')) return
    findings.warning(
      'telephony_missing',
      ['telephony'],
      'The agent has no trunk and cannot place calls: set agent.telephony',
      lines && useFirstTrunk(lines),
      {
        label: 'Serve the cloud only',
        edits: [{ type: 'agent.settings', values: { channels: ['cloud'] }, clear: [] }],
      },
    )
    return
  }
  if (lines === undefined) return
  const { trunkId, from } = telephony
  if (!lines.trunks.some(trunk => trunk.trunk_id === trunkId))
    findings.error(
      'trunk_not_found',
      ['telephony', 'trunkId'],
      `The trunk "${trunkId}" does not exist: create it, or set another trunkId`,
      useFirstTrunk(lines),
      telephonyFix(null, 'Place no calls'),
    )
  const number = lines.numbers.find(number => number.phone_number === from)
  if (from !== null && number?.trunk_id !== trunkId)
    findings.error(
      'number_not_found',
      ['telephony', 'from'],
      number === undefined
        ? `The environment does not have the number ${from}: import it, or set another`
        : `The number ${from} belongs to the trunk "${number.trunk_id}": use that trunk, or set a number of "${trunkId}"`,
      number && telephonyFix({ trunkId: number.trunk_id, from }, `Call over "${number.trunk_id}"`),
      numberOn(lines, trunkId, from),
      telephonyFix({ trunkId }, 'Set no number'),
    )
}

/** The first trunk, with the first number on it. */
function useFirstTrunk(lines: Lines): Fix | undefined {
  const trunk = lines.trunks[0]
  if (trunk === undefined) return undefined
  const { trunk_id: trunkId } = trunk
  const number = lines.numbers.find(number => number.trunk_id === trunkId)
  const value = { trunkId, ...(number && { from: number.phone_number }) }
  return telephonyFix(value, `Call over "${trunkId}"`)
}

function numberOn(lines: Lines, trunkId: string, other: string): Fix | undefined {
  const number = lines.numbers.find(number => number.trunk_id === trunkId && number.phone_number !== other)
  const from = number?.phone_number
  return from === undefined ? undefined : telephonyFix({ trunkId, from }, `Show ${from}`)
}

function telephonyFix(value: { trunkId: string; from?: string } | null, label: string): Fix {
  return { label, edits: [{ type: 'agent.telephony', value }] }
}
