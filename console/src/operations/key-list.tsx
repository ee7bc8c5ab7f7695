import { type FormEvent, type ReactNode, useState } from 'react'
import { useTexts } from '../i18n/i18n.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Badge, Fault } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { ShownOnce } from './shown-once.tsx'
import { useChange } from './use-change.ts'

interface Key {
  readonly name: string
  readonly prefix: string
  readonly revoked_at: string | null
}

/** A new secret; the API says it once. */
interface Issued {
  readonly secret: string
}

interface NewKeyProps {
  readonly onClose: () => void
  readonly onCreated: (secret: string) => void
}

interface KeyListProps<Row extends Key> {
  readonly caption: string
  /** Of the list of the API; its first part is the operation. */
  readonly list: readonly [operation: string]
  readonly load: (
    cursor: string | undefined,
    signal: AbortSignal,
  ) => Promise<{ readonly rows: readonly Row[]; readonly next: string | null }>
  /** Between the name of a key and what can be done with it. */
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  readonly revoke: (row: Row) => Promise<unknown>
  /** Gives a key another secret; default: keys of this kind keep theirs. */
  readonly rotate?: (row: Row) => Promise<Issued>
  /** The list with its heading and a button that calls `add`. */
  readonly frame: (list: ReactNode, add: () => void) => ReactNode
  /** The dialog for a new key. */
  readonly form: (props: NewKeyProps) => ReactNode
}

/** Keys that are created and revoked; the secret of each is shown once. */
export function KeyList<Row extends Key>({ list, columns, revoke, rotate, frame, form, ...table }: KeyListProps<Row>) {
  const { text } = useTexts()
  const [isCreating, setCreating] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const change = useChange(list, (act: () => Promise<unknown>) => act())
  const name: Column<Row> = {
    header: text('agents.name'),
    cell: key => (
      <span className="agent-link">
        <strong>{key.name}</strong>
        <span className="code hint">{key.prefix}…</span>
      </span>
    ),
  }
  const actions: Column<Row> = {
    header: text('version.action'),
    cell: key =>
      key.revoked_at === null ? (
        <span className="badges">
          {rotate !== undefined && (
            <ConfirmButton
              label={text('keys.rotate')}
              onConfirm={() => change.mutate(async () => setSecret((await rotate(key)).secret))}
            />
          )}
          <ConfirmButton label={text('keys.revoke')} onConfirm={() => change.mutate(() => revoke(key))} />
        </span>
      ) : (
        <Badge tone="bad">{text('keys.revoked')}</Badge>
      ),
  }
  const onCreated = (created: string) => {
    setCreating(false)
    setSecret(created)
  }
  return (
    <>
      {frame(
        <>
          {change.isError && <Fault error={change.error} />}
          <PagedTable {...table} columns={[name, ...columns, actions]} queryKey={list} empty={text('keys.empty')} />
        </>,
        () => setCreating(true),
      )}
      {isCreating && form({ onClose: () => setCreating(false), onCreated })}
      {secret !== null && <ShownOnce secret={secret} onClose={() => setSecret(null)} />}
    </>
  )
}

interface KeyFormProps extends NewKeyProps {
  readonly title: string
  readonly list: readonly [operation: string]
  readonly create: (name: string, form: FormData) => Promise<Issued>
  /** Fields below the name. */
  readonly children: ReactNode
}

/** Asks for the name of a new key, and what else belongs to it. */
export function KeyForm({ title, list, create, onClose, onCreated, children }: KeyFormProps) {
  const { text } = useTexts()
  const creation = useChange(list, (form: FormData) => create(String(form.get('name')).trim(), form))
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    await creation.mutateAsync(new FormData(event.currentTarget)).then(
      ({ secret }) => onCreated(secret),
      () => {},
    )
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField label={text('agents.name')} name="name" required maxLength={128} />
        {children}
        <FormActions label={text('agents.create')} isPending={creation.isPending} error={creation.error} />
      </form>
    </Dialog>
  )
}
