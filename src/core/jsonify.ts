/**
 * What comes back of a value that was kept as JSON: what has a `toJSON` comes back as what that said (a `Date` as text), a
 * method is gone, and what JSON cannot hold (a `Map`, a bigint, a function) is refused before it is kept, hence `never`.
 */
export type Jsonify<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends { toJSON(): infer Said }
      ? Jsonify<Said>
      : T extends Lossy
        ? never
        : T extends readonly unknown[]
          ? { [K in keyof T]: Jsonify<T[K]> }
          : T extends object
            ? { [K in keyof T as Kept<K, T[K]>]: Jsonify<T[K]> }
            : T extends void
              ? undefined
              : never

type Lossy =
  | bigint
  | symbol
  | ((...args: never[]) => unknown)
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<WeakKey, unknown>
  | WeakSet<WeakKey>
  | PromiseLike<unknown>
  | RegExp
  | Error
  | ArrayBuffer
  | ArrayBufferView

type Kept<K, V> = K extends symbol ? never : V extends (...args: never[]) => unknown ? never : K
