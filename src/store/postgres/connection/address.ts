/**
 * Where a database is, for those who cannot say it in a URL. Shapes only, as `pg` has them: an application that is compiled
 * against pawl needs no types of `pg` for it.
 */

/** How to reach one server, as `pg` takes it: a `pg.ClientConfig` fits. */
export interface PostgresConnection {
  /** @default what `host`, `port`, `user` and `database` say */
  readonly connectionString?: string | undefined
  /**
   * A name, a folder with a socket, or several with commas in between, of which the first is taken that accepts writes.
   * @default PGHOST, or localhost
   */
  readonly host?: string | undefined
  /** @default PGPORT, or 5432 */
  readonly port?: number | undefined
  /** @default PGUSER, or the operating system's */
  readonly user?: string | undefined
  /** @default PGDATABASE, or the user's name */
  readonly database?: string | undefined
  /**
   * A function is asked for each new connection, as passwords need it that expire. It stays in this thread, so leases are
   * then kept by the event loop of the worker.
   * @default PGPASSWORD, or ~/.pgpass
   */
  readonly password?: string | (() => string | Promise<string>) | undefined
  /**
   * `true`, or what `tls.connect` takes: `ca`, `cert`, `key`, `rejectUnauthorized`.
   * @default PGSSLMODE, or none
   */
  readonly ssl?: boolean | object | undefined
  /** @default 'pawl' and what the connection is for */
  readonly application_name?: string | undefined
  /** @default none */
  readonly options?: string | undefined
  /** @default as the database has it */
  readonly statement_timeout?: false | number | undefined
}

/** The members of a `pg.Pool` that pawl calls. */
export interface PostgresPool {
  connect(): Promise<PooledClient>
  readonly options: { readonly max?: number | undefined }
  readonly totalCount: number
  readonly idleCount: number
  /** True once the application has ended its pool, which then lends no client any more. */
  readonly ending?: boolean | undefined
}

/** The member that a pool adds to a client of `pg`. */
export interface PooledClient {
  release(destroy?: boolean): void
}
