import { ParleyApiError } from '@parley/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Fault } from '../ui/parts.tsx'
import { GatePanel } from './gate-panel.tsx'
import { OverrideForm } from './override-form.tsx'

interface VersionDialogProps {
  readonly agentId: string
  readonly version: number
  readonly headVersion: number | null
  /** False: a test version, which is never the live one. */
  readonly canBeLive: boolean
  readonly onClose: () => void
}

/** One version: the evidence of its release gate, and the way to make it live. */
export function VersionDialog({ agentId, version, headVersion, canBeLive, onClose }: VersionDialogProps) {
  const api = useApi()
  const { text } = useTexts()
  const queries = useQueryClient()
  const setHead = useMutation({
    mutationFn: (reason: string | null) =>
      api.publications.setHead({
        params: { agent_id: agentId },
        body: { version, expected_version: headVersion, ...(reason !== null && { override: { reason } }) },
      }),
    onSuccess: onClose,
    // A refusal may have started the tests of the gate.
    onSettled: () => queries.invalidateQueries(),
  })
  const isGated = setHead.error instanceof ParleyApiError && GATE_REASONS.has(setHead.error.reason ?? '')
  return (
    <Dialog title={text('gate.titleOf', { version })} onClose={onClose}>
      <div className="form">
        <GatePanel agentId={agentId} version={version} />
        {setHead.isError && <Fault error={setHead.error} />}
        {isGated && <OverrideForm isPending={setHead.isPending} onOverride={reason => setHead.mutate(reason)} />}
        <div className="form-actions">
          <button type="button" className="button" onClick={onClose}>
            {text('action.close')}
          </button>
          {canBeLive && version !== headVersion && (
            <button
              type="button"
              className="button primary"
              disabled={setHead.isPending}
              onClick={() => setHead.mutate(null)}
            >
              {text('version.makeLive')}
            </button>
          )}
        </div>
      </div>
    </Dialog>
  )
}

const GATE_REASONS: ReadonlySet<string> = new Set(['gate_pending', 'gate_failed', 'gate_suite_missing'])
