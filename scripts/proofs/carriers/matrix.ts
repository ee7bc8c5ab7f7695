import type { Scenario } from './scenario.ts'
import { SCENARIO_GROUPS } from './table.ts'

const HEADING = '## Carriers that misbehave'

function row({ carrier, engine, unsupported, source }: Scenario): string {
  const cells = [
    carrier,
    unsupported ? `${engine} (not supported)` : engine,
    'issue' in source ? source.issue : source.clause,
  ]
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** The section of docs/interop.md with one table for each group of scenarios. */
function matrixSection(): string {
  const scenarios = SCENARIO_GROUPS.flatMap(group => group.scenarios)
  const intro = [
    HEADING,
    '',
    `A carrier that follows a script does ${scenarios.length} things that gateways elsewhere did not expect, or that the RFCs allow and few peers do:`,
    '`npm run proof -- carriers`, and in `npm test` `scripts/proofs/carriers.test.ts` (virtual time) and `carriers.realtime.test.ts`',
    '(sockets). The last column names the public thread that reported the behaviour of another stack, or the clause that defines it.',
    '"Not supported" means that the engine refuses on purpose. The tables are generated from the scenarios',
    '(`node scripts/proofs/carriers/write-matrix.ts`).',
  ]
  const tables = SCENARIO_GROUPS.flatMap(({ title, scenarios: rows }) => [
    '',
    `### ${title}`,
    '',
    '| the carrier | the engine | source |',
    '|---|---|---|',
    ...rows.map(row),
  ])
  return [...intro, ...tables, ''].join('\n')
}

/** `page` with the section as it should be now, in place of the one that it has. */
export function withMatrix(page: string): string {
  const from = page.indexOf(HEADING)
  const to = page.indexOf('\n## ', from + HEADING.length)
  if (from < 0 || to < 0) throw new Error(`docs/interop.md has no section "${HEADING}" with another one behind it`)
  return `${page.slice(0, from)}${matrixSection()}${page.slice(to)}`
}
