import type { Benchmark } from '../benchmark.ts'
import { quantile } from '../quantile.ts'
import { CASES, type CallerCase } from './cases.ts'
import { judge, type Verdict } from './judge.ts'
import { VirtualAgentCalls } from './virtual-agent-call.ts'

/**
 * Scripted callers of the example agents in two languages, in virtual time, judged on what the caller heard and on the timeline: turns
 * that were cut off, replies later than 1.2 s after the caller's voice, wrong branches, lost words, repeated sentences.
 */
export const benchmark: Benchmark = {
  name: 'callers',
  options: ['only'],
  async run({ option, line, progress }) {
    const only = option('only')
    const chosen = CASES.filter(({ id, kind }) => only === undefined || id.startsWith(only) || kind === only)
    if (chosen.length === 0) throw new Error(`--only ${only}: no script has this id, language or kind`)
    const calls = new VirtualAgentCalls()
    const verdicts: (readonly [CallerCase, Verdict])[] = []
    try {
      for (const example of chosen) {
        const server = await calls.openServer()
        const call = await calls.run(example, server).finally(() => server.close())
        const verdict = judge(example, call)
        verdicts.push([example, verdict])
        const { id, kind, name } = example
        line({ script: id, kind, name, ...countsOf([verdict]), findings: verdict.findings })
        progress(`${verdicts.length} of ${chosen.length}`)
      }
    } finally {
      await calls.close()
    }
    for (const kind of new Set(chosen.map(example => example.kind))) {
      const own = verdicts.filter(([example]) => example.kind === kind).map(([, verdict]) => verdict)
      line({ kind, scripts: own.length, ...countsOf(own) })
    }
    const all = verdicts.map(([, verdict]) => verdict)
    const { repeated_sentences, ...counts } = countsOf(all)
    const replies = all.flatMap(({ repliesMs }) => repliesMs)
    line({
      repeated_sentences,
      replies: replies.length,
      reply_p50_ms: Math.round(quantile(replies, 0.5)),
      reply_p95_ms: Math.round(quantile(replies, 0.95)),
    })
    return { bench: 'callers', scripts: chosen.length, ...counts }
  },
}

function countsOf(verdicts: readonly Verdict[]) {
  const sum = (of: (verdict: Verdict) => number) => verdicts.reduce((total, verdict) => total + of(verdict), 0)
  return {
    cut_off: sum(({ cutOff }) => cutOff),
    late_replies: sum(({ late }) => late),
    wrong_branches: sum(({ wrongBranches }) => wrongBranches),
    lost_words: sum(({ lostWords }) => lostWords),
    repeated_sentences: sum(({ repeated }) => repeated),
  }
}
