"""Engines add tallies; they know no model. An engine of chunks in memory (`threads`) has

    total(chunks, f)              Σ f(chunk), in the order of the chunks

and an engine of data of any size (`stream`, `dask`, `spark`; `picking` finds the one that takes some data) has

    takes(data) → bool            by type, importing nothing
    names(data), schema(data)     names of the columns; their Arrow schema (no pass over the rows)
    total(data, f, plus, *, progress)      Σ f(batch) over all Arrow batches, in their order; None if there are none
    transform(data, f, schema)    f of every batch, as the same kind of data, lazily where the kind is lazy
    kept(data, columns)           a context in which these columns are held for several passes

f and what it gives can be pickled, and f keeps no state. `f.columns`, where f has it, names the columns that it reads:
an engine may leave out all others. progress(rows so far, share of all or None) is called now and then.
"""
