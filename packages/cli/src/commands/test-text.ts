import type { ResultFrom } from '@parley/client'
import { table } from './agents-text.ts'

type TestRun = ResultFrom<'test_runs.get'>
export type CaseResult = ResultFrom<'test_runs.results'>['items'][number]

/** A table of the cases, and the verdict below it. */
export function testTable(run: TestRun, cases: readonly CaseResult[]): string {
  const rows = cases.map(one => [
    one.case_id,
    verdictOf(one),
    `${one.trials.filter(({ verdict }) => verdict === 'passed').length}/${one.trials.length}`,
    one.change ?? '-',
    one.fault ?? [...new Set(one.trials.flatMap(({ failed_assertions }) => failed_assertions))].join(', '),
  ])
  const { summary } = run
  const counts =
    summary === null ? '' : `: ${summary.passed} of ${summary.cases} cases passed, ${summary.trials} trials`
  return `${table(['CASE', 'VERDICT', 'PASSED', 'CHANGE', 'FAILED'], rows)}\n${run.verdict ?? run.state}${counts}\n`
}

function verdictOf({ verdict, flaky, blocking }: CaseResult): string {
  return `${verdict ?? 'none'}${flaky ? ' (flaky)' : ''}${blocking ? '' : ' (not blocking)'}`
}

/** The results as JUnit XML: one test case for each case. */
export function junitXml(run: TestRun, cases: readonly CaseResult[]): string {
  const count = (of: CaseResult['verdict']) => cases.filter(({ verdict }) => verdict === of).length
  const failures = count('failed') + count('invalid')
  const attributes = `name="${escaped(run.agent_id)}" tests="${cases.length}" failures="${failures}" errors="${count('errored')}"`
  const lines = cases.map(one => {
    const seconds = one.trials.reduce((sum, { duration_ms }) => sum + (duration_ms ?? 0), 0) / 1000
    const head = `    <testcase classname="${escaped(run.agent_id)}" name="${escaped(one.case_id)}" time="${seconds}"`
    if (one.verdict === 'passed') return `${head}/>`
    const kind = one.verdict === 'errored' ? 'error' : 'failure'
    const failed = [...new Set(one.trials.flatMap(({ failed_assertions }) => failed_assertions))].join(', ')
    return `${head}>\n      <${kind} message="${escaped(one.fault ?? failed)}"/>\n    </testcase>`
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite ${attributes}>`,
    ...lines,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function escaped(text: string): string {
  return text
    .replace(/[\p{Cc}]/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
