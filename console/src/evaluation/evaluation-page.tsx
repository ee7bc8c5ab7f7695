import type { ResultFrom } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { ConfirmButton } from '../operations/confirm-button.tsx'
import { useChange } from '../operations/use-change.ts'
import { Dialog } from '../ui/dialog.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Badge, Fault, Loading, PageHead } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'

type Suite = ResultFrom<'test_suites.list'>['items'][number]

/** The test suites: simulated callers and what must hold of their conversations. */
export function EvaluationPage() {
  const api = useApi()
  const { text, dateTime } = useTexts()
  const [opened, setOpened] = useState<Suite | null>(null)
  const remove = useChange(['test_suites.list'], (suite: Suite) =>
    api.testSuites.delete({ params: { suite_id: suite.suite_id }, query: { expected_revision: suite.revision } }),
  )
  const columns: readonly Column<Suite>[] = [
    {
      header: text('agents.name'),
      cell: suite => (
        <button type="button" className="link" onClick={() => setOpened(suite)}>
          {suite.name}
        </button>
      ),
    },
    { header: text('run.agent'), cell: suite => suite.agent_id ?? '–' },
    { header: text('suite.cases'), cell: suite => suite.case_count, isNumber: true },
    { header: text('suite.revision'), cell: suite => suite.revision, isNumber: true },
    { header: text('secret.changed'), cell: suite => dateTime(suite.updated_at) },
    {
      header: text('version.action'),
      cell: suite => <ConfirmButton label={text('action.delete')} onConfirm={() => remove.mutate(suite)} />,
    },
  ]
  return (
    <>
      <PageHead title={text('nav.evaluation')} lead={text('suite.lead')} />
      {remove.isError && <Fault error={remove.error} />}
      <PagedTable
        caption={text('nav.evaluation')}
        columns={columns}
        keyOf={suite => suite.suite_id}
        queryKey={['test_suites.list']}
        load={async (cursor, signal) => {
          const page = await api.testSuites.list({ query: { cursor } }, { signal })
          return { rows: page.items, next: page.next_cursor }
        }}
        empty={text('suite.empty')}
      />
      {opened !== null && <SuiteDialog suite={opened} onClose={() => setOpened(null)} />}
    </>
  )
}

function SuiteDialog({ suite, onClose }: { readonly suite: Suite; readonly onClose: () => void }) {
  const api = useApi()
  const { text, word } = useTexts()
  const found = useQuery({
    queryKey: ['test_suites.get', suite.suite_id, suite.revision],
    queryFn: ({ signal }) => api.testSuites.get({ params: { suite_id: suite.suite_id } }, { signal }),
  })
  return (
    <Dialog title={suite.name} onClose={onClose}>
      {found.isPending && <Loading />}
      {found.isError && <Fault error={found.error} />}
      <ul className="cases">
        {found.data?.cases.map(test => (
          <li key={test.case_id}>
            <strong>{test.name}</strong> <span className="code hint">{test.case_id}</span>
            <p className="badges">
              <Badge tone="neutral">{word('caller', test.caller.kind)}</Badge>
              {test.blocking && <Badge tone="warn">{text('suite.blocking')}</Badge>}
              {test.assertions.map(({ id, type }) => (
                <Badge key={id} tone="neutral">
                  {type}
                </Badge>
              ))}
            </p>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
