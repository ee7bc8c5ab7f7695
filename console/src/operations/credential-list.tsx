import { type FormEvent, type ReactNode, useState } from 'react'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Fault, PageHead } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { useChange } from './use-change.ts'

interface CredentialListProps<Row> {
  readonly title: string
  readonly lead: string
  readonly empty: string
  /** On the button of a new one, and on that of a row. */
  readonly labels: { readonly add: string; readonly replace: string }
  /** Of the list of the API; its first part is the operation. */
  readonly list: readonly [operation: string]
  readonly load: (
    cursor: string | undefined,
    signal: AbortSignal,
  ) => Promise<{ readonly rows: readonly Row[]; readonly next: string | null }>
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  readonly remove: (row: Row) => Promise<unknown>
  /** The dialog for `row`, or for a new one. */
  readonly form: (row: Row | null, onClose: () => void) => ReactNode
}

/** A page of credentials: values that can be stored, replaced and deleted, and never read. */
export function CredentialList<Row>({ columns, form, labels, list, remove, ...page }: CredentialListProps<Row>) {
  const { text } = useTexts()
  const [edited, setEdited] = useState<Row | 'new' | null>(null)
  const removal = useChange(list, remove)
  const actions: Column<Row> = {
    header: text('version.action'),
    cell: row => (
      <span className="badges">
        <button type="button" className="button small" onClick={() => setEdited(row)}>
          {labels.replace}
        </button>
        <ConfirmButton label={text('action.delete')} onConfirm={() => removal.mutate(row)} />
      </span>
    ),
  }
  return (
    <>
      <PageHead title={page.title} lead={page.lead}>
        <button type="button" className="button primary" onClick={() => setEdited('new')}>
          <Icon name="plus" />
          {labels.add}
        </button>
      </PageHead>
      {removal.isError && <Fault error={removal.error} />}
      <PagedTable
        caption={page.title}
        columns={[...columns, actions]}
        keyOf={page.keyOf}
        queryKey={list}
        load={page.load}
        empty={page.empty}
      />
      {edited !== null && form(edited === 'new' ? null : edited, () => setEdited(null))}
    </>
  )
}

interface CredentialFormProps {
  readonly title: string
  /** Label and most characters of the value. */
  readonly value: { readonly label: string; readonly maxLength: number }
  readonly list: readonly [operation: string]
  readonly put: (form: FormData) => Promise<unknown>
  readonly onClose: () => void
  /** Fields above the value. */
  readonly children: ReactNode
}

/** Asks for a value, named "value" in the form, and what else belongs to it. */
export function CredentialForm({ title, value, list, put, onClose, children }: CredentialFormProps) {
  const change = useChange(list, put)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    await change.mutateAsync(new FormData(event.currentTarget)).then(onClose, () => {})
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        {children}
        <TextField {...value} name="value" type="password" required />
        <FormActions isPending={change.isPending} error={change.error} />
      </form>
    </Dialog>
  )
}
