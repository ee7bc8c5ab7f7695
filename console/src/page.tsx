import { lazy, Suspense } from 'react'
import { useTexts } from './i18n/i18n.tsx'
import { Link, useRoute } from './router.tsx'
import type { Route } from './routes.ts'
import { RunsPage } from './runs/runs-page.tsx'
import { Empty, Loading, PageHead } from './ui/parts.tsx'

const TelephonyPage = lazy(async () => ({ default: (await import('./operations/telephony-page.tsx')).TelephonyPage }))
const UsagePage = lazy(async () => ({ default: (await import('./operations/usage-page.tsx')).UsagePage }))
const KeysPage = lazy(async () => ({ default: (await import('./operations/keys-page.tsx')).KeysPage }))
const SecretsPage = lazy(async () => ({ default: (await import('./operations/secrets-page.tsx')).SecretsPage }))
const ProviderKeysPage = lazy(async () => ({
  default: (await import('./operations/provider-keys-page.tsx')).ProviderKeysPage,
}))
const AuditPage = lazy(async () => ({ default: (await import('./operations/audit-page.tsx')).AuditPage }))
const WorkspacePage = lazy(async () => ({ default: (await import('./operations/workspace-page.tsx')).WorkspacePage }))
const TrunkPage = lazy(async () => ({ default: (await import('./operations/trunk-page.tsx')).TrunkPage }))
const AlertsPage = lazy(async () => ({ default: (await import('./operations/alerts-page.tsx')).AlertsPage }))
const TeamPage = lazy(async () => ({ default: (await import('./operations/team-page.tsx')).TeamPage }))
const KnowledgePage = lazy(async () => ({ default: (await import('./operations/knowledge-page.tsx')).KnowledgePage }))
const EvaluationPage = lazy(async () => ({
  default: (await import('./evaluation/evaluation-page.tsx')).EvaluationPage,
}))
const TestRunPage = lazy(async () => ({ default: (await import('./evaluation/test-run-page.tsx')).TestRunPage }))
const SuitePage = lazy(async () => ({ default: (await import('./evaluation/suite-page.tsx')).SuitePage }))
const LivePage = lazy(async () => ({ default: (await import('./live/live-page.tsx')).LivePage }))
const AgentsPage = lazy(async () => ({ default: (await import('./agents/agents-page.tsx')).AgentsPage }))
const AgentPage = lazy(async () => ({ default: (await import('./agents/agent-page.tsx')).AgentPage }))
const RunPage = lazy(async () => ({ default: (await import('./runs/run-page.tsx')).RunPage }))

/** The page of the address. Pages other than the first view load when they are opened. */
export function Page() {
  const route = useRoute()
  return <Suspense fallback={<Loading />}>{pageOf(route)}</Suspense>
}

function pageOf(route: Route) {
  switch (route.page) {
    case 'runs':
      return <RunsPage />
    case 'run':
      return <RunPage key={route.runId} runId={route.runId} />
    case 'live':
      return <LivePage />
    case 'agents':
      return <AgentsPage />
    case 'agent':
      return <AgentPage key={route.agentId} agentId={route.agentId} tab={route.tab} />
    case 'telephony':
      return <TelephonyPage />
    case 'usage':
      return <UsagePage />
    case 'keys':
      return <KeysPage />
    case 'secrets':
      return <SecretsPage />
    case 'provider-keys':
      return <ProviderKeysPage />
    case 'audit':
      return <AuditPage />
    case 'workspace':
      return <WorkspacePage />
    case 'trunk':
      return <TrunkPage key={route.trunkId} trunkId={route.trunkId} />
    case 'alerts':
      return <AlertsPage />
    case 'team':
      return <TeamPage />
    case 'knowledge':
      return <KnowledgePage />
    case 'evaluation':
      return <EvaluationPage />
    case 'test-run':
      return <TestRunPage key={route.testRunId} testRunId={route.testRunId} />
    case 'suite':
      return <SuitePage key={route.suiteId} suiteId={route.suiteId} />
    default:
      return <NotFound />
  }
}

function NotFound() {
  const { text } = useTexts()
  return (
    <>
      <PageHead title={text('notFound.title')} />
      <Empty>
        {text('notFound.text')} <Link to={{ page: 'runs' }}>{text('nav.runs')}</Link>
      </Empty>
    </>
  )
}
