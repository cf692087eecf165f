// Http: asking servers on the network. The broker of an image that is up asks them, never the
// image itself: which hosts may be asked says the file broker.toml beside the image, and secrets
// that a request needs are written as {{secret:NAME}} and put in there.

//metadoc Http description Asks servers by HTTP, through the broker of an image that is up.
Http do(
    //doc Http get(url, headers) Returns the HttpResponse to a GET; the headers are a Map of names to texts, or left out.
    get := method(url, headers, request("GET", url, headers))

    //doc Http post(url, body, headers) Returns the HttpResponse to a POST of the body.
    post := method(url, body, headers, request("POST", url, headers, body))

    //doc Http put(url, body, headers) Returns the HttpResponse to a PUT of the body.
    put := method(url, body, headers, request("PUT", url, headers, body))

    //doc Http delete(url, headers) Returns the HttpResponse to a DELETE.
    delete := method(url, headers, request("DELETE", url, headers))

    //doc Http request(verb, url, headers, body) Returns the HttpResponse to any request. Raises if the server cannot be asked, or may not be.
    request := method(verb, url, headers, body,
        lines := if(headers isNil, nil, headers keys sort map(name, name .. ": " .. headers at(name)) join("\n"))
        answer := ask(verb, url, lines, body)
        HttpResponse clone setStatus(answer at(0)) setHeaderLines(answer at(1)) setBody(answer at(2))
    )
)

//metadoc HttpResponse description What a server answered.
HttpResponse := Object clone do(
    //doc HttpResponse status Returns the number of the status, such as 200.
    status ::= nil

    headerLines ::= ""

    //doc HttpResponse body Returns what came, as a Sequence.
    body ::= nil

    //doc HttpResponse isOk Returns true if the status is from 200 to 299.
    isOk := method(status >= 200 and status < 300)

    //doc HttpResponse headers Returns a Map of the names, in lower case, to their texts.
    headers := method(
        map := Map clone
        headerLines split("\n") foreach(line,
            if(line containsSeq(":"),
                map atPut(line beforeSeq(":") asLowercase asMutable strip asSymbol, line afterSeq(":") asMutable strip)
            )
        )
        map
    )

    //doc HttpResponse json Returns the body, read as JSON.
    json := method(body asString parseJson)
)
