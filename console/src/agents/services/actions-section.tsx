import { useState } from 'react'
import { useTexts } from '../../i18n/i18n.tsx'
import { ConfirmButton } from '../../operations/confirm-button.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { Empty, Section } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import type { OpenDraft } from '../use-draft.ts'
import { ActionDialog } from './action-dialog.tsx'
import { ACTION_KINDS, type Action, type Kind, newAction } from './action-fields.ts'

/** What the agent can do besides talking. */
export function ActionsSection({ open }: { readonly open: OpenDraft }) {
  const { text, word } = useTexts()
  const { actions } = open.draft
  /** The action of the dialog; null: no dialog. */
  const [edited, setEdited] = useState<Action | null>(null)
  const [kind, setKind] = useState<Kind>('http')
  const columns: readonly Column<Action>[] = [
    {
      header: text('agents.name'),
      cell: action => (
        <>
          <button type="button" className="link" onClick={() => setEdited(action)}>
            {action.name}
          </button>{' '}
          {action.action_id !== action.name && <span className="code hint">{action.action_id}</span>}
        </>
      ),
    },
    { header: text('trunk.kind'), cell: action => word('actionKind', action.kind) },
    { header: text('services.description'), cell: ({ description }) => description || '–' },
    {
      header: text('version.action'),
      cell: ({ action_id }) => (
        <ConfirmButton
          label={text('suite.removeCase')}
          disabled={open.isSaving}
          onConfirm={() => open.edit([{ type: 'action.remove', action_id }])}
        />
      ),
    },
  ]
  return (
    <Section title={text('services.actions')}>
      {actions.length === 0 ? (
        <Empty>{text('services.noActions')}</Empty>
      ) : (
        <Table
          caption={text('services.actions')}
          columns={columns}
          rows={actions}
          keyOf={({ action_id }) => action_id}
        />
      )}
      <div className="inline-form">
        <SelectField
          label={text('services.newAction')}
          value={kind}
          onChange={event => setKind(event.target.value as Kind)}
          choices={ACTION_KINDS.map(one => [one, word('actionKind', one)])}
        />
        <button type="button" className="button" onClick={() => setEdited(newAction(kind, actions))}>
          {text('settings.add')}
        </button>
      </div>
      {edited !== null && <ActionDialog open={open} action={edited} onClose={() => setEdited(null)} />}
    </Section>
  )
}
