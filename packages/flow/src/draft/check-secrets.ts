import { isHttpAction, type SecretRef } from '@parley/nodes'
import type { DraftContent } from '../plan/draft.ts'
import type { Findings } from '../plan/findings.ts'
import { type Fix, putAction, putModelChoice } from '../plan/fixes.ts'
import { type Path, scopesOf } from '../plan/scope.ts'
import type { DraftEnvironment } from './draft-environment.ts'

type Secret = DraftEnvironment['secrets'][number]
type Kind = Secret['kind']

/** The fixes of a reference to a secret. */
interface SecretFixes {
  /** Pins another version. */
  readonly pin: (version: string) => Fix | undefined
  /** Removes the reference, where that makes sense. */
  readonly without?: Fix | undefined
}

/** Reports references to secrets that do not exist, are of another kind or lack the pinned version. */
export function checkSecrets(
  draft: DraftContent,
  { secrets }: Pick<DraftEnvironment, 'secrets'>,
  findings: Findings,
): void {
  const byId = new Map(secrets.map(secret => [secret.secret_id, secret]))
  const check = (ref: SecretRef, kind: Kind, path: Path, fixes: SecretFixes) => {
    const secret = byId.get(ref.id)
    const message = faultOf(ref, kind, secret)
    if (message === null) return
    const newest = secret?.kind === kind ? newestOf(secret) : undefined
    findings.error(
      'secret_not_found',
      path,
      message,
      newest === undefined ? undefined : fixes.pin(newest),
      fixes.without,
    )
  }
  checkServices(draft, check)
  checkNodes(draft, check)
  checkActions(draft, check)
  checkServers(draft, check)
  const { notification, analysis } = draft
  if (notification !== null)
    check(notification.secret, 'webhook_signing', ['notification', 'secret'], {
      pin: version => ({
        label: pinned(version),
        edits: [
          {
            type: 'notification.put',
            notification: { ...notification, secret: { id: notification.secret.id, version } },
          },
        ],
      }),
      without: { label: 'Remove the webhook', edits: [{ type: 'notification.remove' }] },
    })
  const model = analysis?.model
  if (analysis && model?.credential) {
    const { credential } = model
    const put = (label: string, changed: typeof model): Fix => ({
      label,
      edits: [{ type: 'agent.analysis', value: { ...analysis, model: changed } }],
    })
    check(credential, 'provider_credential', ['analysis', 'model', 'credential'], {
      pin: version => put(pinned(version), { ...model, credential: { ...credential, version } }),
      without: put(PLATFORM_KEY, { model: model.model }),
    })
  }
}

type Check = (ref: SecretRef, kind: Kind, path: Path, fixes: SecretFixes) => void

const PLATFORM_KEY = "Use the platform's key"

function checkServices({ providers: { stt, llm, tts } }: DraftContent, check: Check): void {
  for (const [role, { credential }] of [['stt', stt] as const, ['tts', tts] as const])
    if (credential !== undefined)
      check(credential, 'provider_credential', ['providers', role, 'credential'], {
        pin: version => ({
          label: pinned(version),
          edits: [{ type: 'agent.provider', role, changes: { credential: { id: credential.id, version } } }],
        }),
        without: { label: PLATFORM_KEY, edits: [{ type: 'agent.provider', role, changes: { credential: null } }] },
      })
  const { credential } = llm
  if (credential !== undefined)
    check(credential, 'provider_credential', ['providers', 'llm', 'credential'], {
      pin: version => ({
        label: pinned(version),
        edits: [{ type: 'agent.provider', role: 'llm', changes: { credential: { ...credential, version } } }],
      }),
      without: { label: PLATFORM_KEY, edits: [{ type: 'agent.provider', role: 'llm', changes: { credential: null } }] },
    })
}

function checkNodes(draft: DraftContent, check: Check): void {
  for (const scope of scopesOf(draft))
    for (const [index, node] of scope.nodes.entries()) {
      const choice = node.model_choice
      if (choice?.credential === undefined) continue
      const { credential, model } = choice
      check(credential, 'provider_credential', [...scope.path, 'nodes', index, 'model_choice', 'credential'], {
        pin: version => putModelChoice(scope, node, { model, credential: { ...credential, version } }, pinned(version)),
        without: putModelChoice(scope, node, { model }, PLATFORM_KEY),
      })
    }
}

/** No fix removes the authentication of an action or gives it another secret. */
function checkActions({ actions }: DraftContent, check: Check): void {
  for (const [index, action] of actions.entries()) {
    if (!isHttpAction(action) || action.auth === null) continue
    const { auth } = action
    check(auth.secret, 'http_auth', ['actions', index, 'auth', 'secret'], {
      pin: version =>
        putAction(actions, { ...action, auth: { ...auth, secret: { id: auth.secret.id, version } } }, pinned(version)),
    })
  }
}

/** The secrets of the service for text messages and of MCP servers. No edit changes the servers alone. */
function checkServers({ settings, flow }: DraftContent, check: Check): void {
  const { sms } = settings
  if (sms?.secret !== undefined) {
    const { secret } = sms
    check(secret, 'http_auth', ['settings', 'sms', 'secret'], {
      pin: version => ({
        label: pinned(version),
        edits: [{ type: 'agent.settings', values: { sms: { ...sms, secret: { id: secret.id, version } } }, clear: [] }],
      }),
    })
  }
  for (const [index, server] of (flow.mcps ?? []).entries())
    if (server.auth !== null)
      check(server.auth.secret, 'http_auth', ['flow', 'mcps', index, 'auth', 'secret'], { pin: () => undefined })
}

function pinned(version: string): string {
  return `Pin version ${version}`
}

function faultOf(ref: SecretRef, kind: Kind, secret: Secret | undefined): string | null {
  if (secret === undefined) return `The secret "${ref.id}" does not exist: create it, or set another`
  if (secret.kind !== kind)
    return `The secret "${ref.id}" is of kind ${secret.kind}, and a secret of kind ${kind} is needed: set another`
  if (!secret.versions.includes(ref.version))
    return `The secret "${ref.id}" has no version "${ref.version}": pin a version that exists`
  return null
}

/** The newest version. Versions are decimal numbers that count up. */
function newestOf({ versions }: Secret): string | undefined {
  return versions.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1)).at(-1)
}
