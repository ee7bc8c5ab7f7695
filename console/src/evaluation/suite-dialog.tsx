import type { ResultFrom } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Badge, Fault, Loading } from '../ui/parts.tsx'

interface SuiteDialogProps {
  readonly suite: Pick<ResultFrom<'test_suites.get'>, 'suite_id' | 'name' | 'revision'>
  readonly onClose: () => void
}

/** The cases of a suite. */
export function SuiteDialog({ suite, onClose }: SuiteDialogProps) {
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
