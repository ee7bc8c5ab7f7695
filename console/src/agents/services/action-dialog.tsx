import { type FormEvent, useEffect, useState } from 'react'
import { useTexts } from '../../i18n/i18n.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextArea, TextField } from '../../ui/fields.tsx'
import { FormActions } from '../../ui/form-actions.tsx'
import { Fault } from '../../ui/parts.tsx'
import type { OpenDraft } from '../use-draft.ts'
import type { Action } from './action-fields.ts'

interface ActionDialogProps {
  readonly open: OpenDraft
  readonly action: Action
  readonly onClose: () => void
}

/** The fields that the form has apart from its JSON. The server counts versions. */
const OWN = new Set(['kind', 'action_id', 'version', 'name', 'description', 'method', 'url'])
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** One action: its name, its description for the model, its address, and its other fields as JSON. */
export function ActionDialog({ open, action, onClose }: ActionDialogProps) {
  const { text, word } = useTexts()
  const [isNotJson, setNotJson] = useState(false)
  /** The revision that the form was sent for; null: it was not sent. */
  const [sentAt, setSentAt] = useState<number | null>(null)
  const { revision } = open.draft
  // A refused edit leaves the revision, and the form, as they are.
  useEffect(() => {
    if (sentAt !== null && revision > sentAt) onClose()
  }, [sentAt, revision, onClose])
  const further = Object.fromEntries(Object.entries(action).filter(([name]) => !OWN.has(name)))
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const { kind, action_id, version } = action
    const field = (name: string) => String(form.get(name)).trim()
    try {
      const changed = {
        ...(JSON.parse(field('further')) as object),
        kind,
        action_id,
        version,
        name: field('name'),
        description: field('description'),
        ...(kind === 'http' && { method: field('method'), url: field('url') }),
      }
      setNotJson(false)
      setSentAt(revision)
      open.edit([{ type: 'action.put', action: changed as Action }])
    } catch {
      setNotJson(true)
    }
  }
  return (
    <Dialog title={`${word('actionKind', action.kind)} · ${action.action_id}`} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField
          label={text('agents.name')}
          name="name"
          required
          pattern="[A-Za-z_][A-Za-z0-9_\-]*"
          maxLength={64}
          defaultValue={action.name}
        />
        <TextArea
          label={text('services.description')}
          name="description"
          rows={3}
          maxLength={1024}
          defaultValue={action.description ?? ''}
        />
        {action.kind === 'http' && (
          <>
            <SelectField
              label={text('services.method')}
              name="method"
              defaultValue={action.method}
              choices={METHODS.map(one => [one, one])}
            />
            <TextField label={text('trunk.address')} name="url" required maxLength={2048} defaultValue={action.url} />
          </>
        )}
        <TextArea
          label={text('services.further')}
          name="further"
          className="code"
          rows={10}
          required
          defaultValue={JSON.stringify(further, null, 1)}
        />
        {isNotJson && (
          <p role="alert" className="fault">
            {text('case.notJson')}
          </p>
        )}
        {sentAt !== null && open.fault !== null && <Fault error={open.fault} />}
        <FormActions isPending={open.isSaving} />
      </form>
    </Dialog>
  )
}
