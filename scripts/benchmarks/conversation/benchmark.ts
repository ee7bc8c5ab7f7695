// Word errors, cut-offs and latency of turns on damaged lines, as a page with plots.
//   npm run bench -- conversation [--report FILE] [--scripts N] [--only DIMENSION]
import { writeFile } from 'node:fs/promises'
import type { Benchmark } from '../benchmark.ts'
import { CASES, type CallerCase } from '../callers/cases.ts'
import { type FinishedCall, VirtualAgentCalls } from '../callers/virtual-agent-call.ts'
import { CONDITIONS } from './conditions.ts'
import { type ConditionFigures, figuresOf } from './figures.ts'
import { reportPage } from './report-page.ts'

const REPORT = 'conversation-report.html'
const SCRIPTS = 12
/** Callers that speak, in part with pauses inside their turns. */
const KINDS: readonly CallerCase['kind'][] = ['plain', 'hesitation', 'number-in-groups', 'one-word', 'correction']
const ABOUT =
  'Scripted callers of the example agents in virtual time, with the simulated recogniser and voice: the figures are about codecs, concealment, voice activity and turn-taking, not about a recogniser of real speech. One property of the line is varied at a time.'

export const benchmark: Benchmark = {
  name: 'conversation',
  options: ['report', 'scripts', 'only'],
  async run({ option, line, progress }) {
    const report = option('report') ?? REPORT
    const only = option('only')
    const scripts = Number(option('scripts') ?? SCRIPTS)
    const conditions = CONDITIONS.filter(({ dimension }) => only === undefined || dimension === only)
    if (conditions.length === 0) throw new Error(`--only ${only}: no line is varied by it`)
    const callers = spread(
      CASES.filter(({ kind }) => KINDS.includes(kind)),
      scripts,
    )
    const calls = new VirtualAgentCalls()
    const rows: ConditionFigures[] = []
    try {
      for (const condition of conditions) {
        const { codec, damage } = condition
        const held: [CallerCase, FinishedCall][] = []
        for (const [index, example] of callers.entries()) {
          const server = await calls.openServer()
          const ofCaller = { ...example, line: { seed: index + 1, isWideband: codec === 'G.722', damage } }
          held.push([example, await calls.run(ofCaller, server).finally(() => server.close())])
        }
        const figures = figuresOf(condition, held)
        rows.push(figures)
        line(figures)
        progress(`${rows.length} of ${conditions.length} lines`)
      }
    } finally {
      await calls.close()
    }
    await writeFile(report, reportPage(rows, ABOUT))
    return { bench: 'conversation', lines: rows.length, scripts: callers.length, report }
  },
}

/** `count` of the items, evenly spread. */
function spread<Item>(items: readonly Item[], count: number): Item[] {
  const most = Math.min(Math.max(1, count), items.length)
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)]!)
}
