import { BLOCK_ROWS, PAGE_BYTES, QUERY_BYTES, ROW_ALIGNMENT, SCORE_BYTES, scanOn } from './scan-module.ts'

/** A chunk by its place, with the cosine similarity of its vector and the query. */
export interface VectorHit {
  readonly document_id: string
  readonly chunk_index: number
  readonly score: number
}

interface StoredDocument {
  readonly id: string
  /** Its vectors, one after the other. */
  readonly vectors: Float32Array
  /** Row of its first vector. */
  readonly firstRow: number
  readonly rows: number
}

const ROWS_AT = QUERY_BYTES + SCORE_BYTES
/** WebAssembly memory has at most 4 GiB. */
const MAX_BYTES = 4 * 1_073_741_824 - PAGE_BYTES

/**
 * The vectors of a generation, all of length 1 and of `dimension` components. A search reads every vector as 8-bit integers,
 * a quarter of the memory to read, then rates with 32-bit floats all that could be among the best as far as the rounding
 * allows: the hits are those of an exact scan.
 */
export class VectorIndex {
  readonly dimension: number
  readonly #rowBytes: number
  readonly #memory: WebAssembly.Memory
  readonly #scan: ReturnType<typeof scanOn>
  readonly #documents = new Map<string, StoredDocument>()
  /** By row: its document; null: the document has left. */
  #documentOfRow: (StoredDocument | null)[] = []
  /** By row: what one unit of its integers is worth, and how far the integers are from the vector. */
  #scales = new Float32Array(1024)
  #errors = new Float32Array(1024)
  #rows = 0
  #live = 0

  constructor(dimension: number) {
    this.dimension = dimension
    this.#rowBytes = Math.ceil(dimension / ROW_ALIGNMENT) * ROW_ALIGNMENT
    this.#memory = new WebAssembly.Memory({ initial: Math.ceil(ROWS_AT / PAGE_BYTES) })
    this.#scan = scanOn(this.#memory)
  }

  get rows(): number {
    return this.#rows
  }

  /** Vectors of documents that have not left. */
  get live(): number {
    return this.#live
  }

  /** Bytes that it holds, its floats included. */
  get bytes(): number {
    return this.#memory.buffer.byteLength + this.#rows * (this.dimension * 4 + 16)
  }

  /** Adds a document, which replaces one of the same id. `vectors`: one after the other. */
  add(id: string, vectors: Float32Array): void {
    this.#forget(id)
    const rows = Math.floor(vectors.length / this.dimension)
    const document: StoredDocument = { id, vectors, firstRow: this.#rows, rows }
    this.#documents.set(id, document)
    this.#grow(this.#rows + rows)
    for (let row = 0; row < rows; row++) {
      this.#store(this.#rows + row, vectors.subarray(row * this.dimension, (row + 1) * this.dimension))
      this.#documentOfRow.push(document)
    }
    this.#rows += rows
    this.#live += rows
  }

  /** Forgets all documents but these. */
  retain(ids: ReadonlySet<string>): void {
    for (const id of this.#documents.keys()) if (!ids.has(id)) this.#forget(id)
  }

  /** The best `atMost` vectors, the best first; of `documents` only, where they are given. */
  search(query: Float32Array, atMost: number, documents: ReadonlySet<string> | null = null): VectorHit[] {
    if (documents !== null && documents.size <= 100) return this.#searchIn(query, atMost, documents)
    return this.#best(this.#candidates(query, atMost, documents), query, atMost)
  }

  /** Cosine similarity of one chunk; null: it is not here. */
  scoreOf(query: Float32Array, documentId: string, chunkIndex: number): number | null {
    const document = this.#documents.get(documentId)
    if (document === undefined || chunkIndex >= document.rows) return null
    return dot(query, document.vectors, chunkIndex * this.dimension)
  }

  #searchIn(query: Float32Array, atMost: number, ids: ReadonlySet<string>): VectorHit[] {
    const rows: number[] = []
    for (const id of ids) {
      const document = this.#documents.get(id)
      for (let row = 0; row < (document?.rows ?? 0); row++) rows.push(document!.firstRow + row)
    }
    return this.#best(rows, query, atMost)
  }

  /** Rows that could be among the best `atMost`: the upper bound of their score reaches the lowest sure one of the best. */
  #candidates(query: Float32Array, atMost: number, documents: ReadonlySet<string> | null): number[] {
    const { unit, error: queryError } = this.#writeQuery(query)
    const least = new LowestOfBest(atMost)
    const uppers = new Float32Array(this.#rows)
    const scores = new Int32Array(this.#memory.buffer, QUERY_BYTES, BLOCK_ROWS)
    for (let first = 0; first < this.#rows; first += BLOCK_ROWS) {
      const count = Math.min(BLOCK_ROWS, this.#rows - first)
      this.#scan(ROWS_AT + first * this.#rowBytes, count, this.#rowBytes, 0, QUERY_BYTES)
      for (let at = 0; at < count; at++) {
        const row = first + at
        const document = this.#documentOfRow[row]!
        if (document === null || (documents !== null && !documents.has(document.id))) {
          uppers[row] = Number.NEGATIVE_INFINITY
          continue
        }
        const score = scores[at]! * this.#scales[row]! * unit
        const error = this.#errors[row]! + queryError
        uppers[row] = score + error
        least.offer(score - error)
      }
    }
    const rows: number[] = []
    // Rows that do not count have the lowest value.
    const lowest = Math.max(least.value, -Number.MAX_VALUE)
    for (let row = 0; row < this.#rows; row++) if (uppers[row]! >= lowest) rows.push(row)
    return rows
  }

  #best(rows: readonly number[], query: Float32Array, atMost: number): VectorHit[] {
    const hits = rows.map(row => {
      const document = this.#documentOfRow[row]!
      const chunk = row - document!.firstRow
      const score = dot(query, document!.vectors, chunk * this.dimension)
      return { document_id: document!.id, chunk_index: chunk, score }
    })
    hits.sort((one, other) => other.score - one.score)
    return hits.slice(0, atMost)
  }

  /** Writes the query as 16-bit integers, small enough that no sum of products overflows. */
  #writeQuery(query: Float32Array): { readonly unit: number; readonly error: number } {
    const most = Math.min(32_767, Math.floor(2 ** 31 / (128 * this.#rowBytes)) - 1)
    const unit = largest(query) / most || 1
    const integers = new Int16Array(this.#memory.buffer, 0, this.#rowBytes)
    integers.fill(0)
    let squares = 0
    for (let at = 0; at < this.dimension; at++) {
      const integer = Math.round(query[at]! / unit)
      integers[at] = integer
      squares += (query[at]! - integer * unit) ** 2
    }
    // The rows have length 1, and their integers hardly more.
    return { unit, error: Math.sqrt(squares) * 1.01 }
  }

  #store(row: number, vector: Float32Array): void {
    const unit = largest(vector) / 127 || 1
    const integers = new Int8Array(this.#memory.buffer, ROWS_AT + row * this.#rowBytes, this.#rowBytes)
    let squares = 0
    for (let at = 0; at < vector.length; at++) {
      const integer = Math.round(vector[at]! / unit)
      integers[at] = integer
      squares += (vector[at]! - integer * unit) ** 2
    }
    this.#scales[row] = unit
    // Slightly more than the bound, for the rounding of the floats themselves.
    this.#errors[row] = Math.sqrt(squares) * 1.001 + 1e-6
  }

  #grow(rows: number): void {
    const needed = ROWS_AT + rows * this.#rowBytes
    if (needed > MAX_BYTES) throw new RangeError('a generation has at most 4 GiB of vectors in memory')
    const missing = needed - this.#memory.buffer.byteLength
    if (missing > 0) {
      // An eighth more than needed, so that a document at a time does not copy the memory each time.
      const extra = Math.min(missing + needed / 8, MAX_BYTES - this.#memory.buffer.byteLength)
      this.#memory.grow(Math.ceil(extra / PAGE_BYTES))
    }
    if (rows <= this.#scales.length) return
    const capacity = Math.max(rows, this.#scales.length * 2)
    this.#scales = copied(this.#scales, capacity)
    this.#errors = copied(this.#errors, capacity)
  }

  #forget(id: string): void {
    const document = this.#documents.get(id)
    if (document === undefined) return
    this.#documents.delete(id)
    this.#live -= document.rows
    this.#documentOfRow.fill(null, document.firstRow, document.firstRow + document.rows)
  }
}

/** The lowest of the `size` highest values offered so far: a heap with the lowest on top. */
class LowestOfBest {
  readonly #heap: Float64Array
  #size = 0

  constructor(size: number) {
    this.#heap = new Float64Array(size)
  }

  /** Negative infinity until there are enough values. */
  get value(): number {
    return this.#size < this.#heap.length ? Number.NEGATIVE_INFINITY : this.#heap[0]!
  }

  offer(value: number): void {
    const heap = this.#heap
    if (this.#size < heap.length) {
      let at = this.#size++
      heap[at] = value
      for (let parent = (at - 1) >> 1; at > 0 && heap[parent]! > value; at = parent, parent = (at - 1) >> 1) {
        heap[at] = heap[parent]!
        heap[parent] = value
      }
    } else if (value > heap[0]!) {
      let at = 0
      for (;;) {
        let child = 2 * at + 1
        if (child >= heap.length) break
        if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++
        if (heap[child]! >= value) break
        heap[at] = heap[child]!
        at = child
      }
      heap[at] = value
    }
  }
}

function copied(values: Float32Array<ArrayBuffer>, capacity: number): Float32Array<ArrayBuffer> {
  const larger = new Float32Array(capacity)
  larger.set(values)
  return larger
}

function largest(vector: Float32Array): number {
  let most = 0
  for (const value of vector) most = Math.max(most, Math.abs(value))
  return most
}

function dot(query: Float32Array, vectors: Float32Array, from: number): number {
  let sum = 0
  for (let at = 0; at < query.length; at++) sum += query[at]! * vectors[from + at]!
  return sum
}
