import { type FuzzReport, fuzz } from '../fuzzing/fuzzer.ts'
import { FUZZ_TARGETS } from '../fuzzing/target.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const PROGRESS_EVERY_MS = 10_000

/**
 * Fuzzes the parsers of SIP, SDP, RTP and SRTP, guided by code coverage: none throws, hangs or breaks an invariant. The time
 * is divided equally among the targets.
 */
async function run({ seed, count, seconds, line, progress }: ProofOptions): Promise<ProofOutcome> {
  const reports: FuzzReport[] = []
  for (const target of FUZZ_TARGETS) {
    let reportedAt = performance.now()
    const report = await fuzz({
      target,
      seed,
      seconds: seconds / FUZZ_TARGETS.length,
      count,
      onProgress: state => {
        if (performance.now() - reportedAt < PROGRESS_EVERY_MS) return
        reportedAt = performance.now()
        progress(
          `${target}: ${state.runs} inputs in ${state.seconds} s, ${state.corpus} in the corpus, ${state.found} faults`,
        )
      },
    })
    line({ proof: 'fuzz', ...report })
    reports.push(report)
  }
  const sum = (of: (report: FuzzReport) => number) => reports.reduce((total, report) => total + of(report), 0)
  return {
    ok: sum(report => report.findings.length) === 0,
    summary: {
      inputs: sum(report => report.runs),
      seconds: Math.round(sum(report => report.seconds)),
      slowest_ms: Math.max(...reports.map(report => report.slowestMs)),
      findings: sum(report => report.findings.length),
    },
  }
}

export const proof: Proof = { name: 'fuzz', seconds: 600, count: Number.MAX_SAFE_INTEGER, run }
