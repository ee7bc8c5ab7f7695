import type { ReactNode } from 'react'

export interface Column<Row> {
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  /** Right-aligned figures. */
  readonly isNumber?: boolean
}

interface TableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
}

/** A table that becomes a list of cards on small screens. */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  return (
    <table className="table">
      <caption className="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ header, isNumber }) => (
            <th key={header} scope="col" className={isNumber === true ? 'number' : undefined}>
              {header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr key={keyOf(row)}>
            {columns.map(({ header, cell, isNumber }) => (
              <td key={header} data-label={header} className={isNumber === true ? 'number' : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
