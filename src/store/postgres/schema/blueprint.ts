/** What is made in a schema of its own: the tables, functions and rights of the store, or those of a ledger. */
export interface Blueprint {
  /** SQL by its place: numbered tables are in `schema/`, functions and views wherever else. */
  readonly files: () => ReadonlyMap<string, string>
  /** What is asked there: the functions that these texts call are granted to the installation's role. */
  readonly statements: (schema: string) => object
  /** Of all functions and views: code with an earlier one does not put back its own over those of a later one. */
  readonly edition: number
  /** The views that every role which may use the schema can read. */
  readonly views: readonly string[]
  /** Other relations that such a role can read. */
  readonly readable: readonly string[]
  /** The function by whose grants the installation's role is known again. */
  readonly door: string
}

/** The texts among what is asked: some statements come with notes about them. */
export const textsOf = (statements: object): readonly string[] =>
  Object.values(statements).filter((each) => typeof each === 'string')
